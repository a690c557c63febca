"""Moves a project and a group from one instance to another with python-gitlab, which nobody here wrote."""
import json
import sys
import time

import gitlab

source, target = (gitlab.Gitlab(url, private_token=token) for url, token in (sys.argv[1:3], sys.argv[3:5]))


def wait(record, attribute, wanted):
    for _ in range(600):
        record.refresh()
        if getattr(record, attribute) == wanted:
            return
        time.sleep(0.1)
    raise SystemExit(f"{attribute} is {getattr(record, attribute)}, and not {wanted}")


group = source.groups.create({"name": "Quarry", "path": "quarry", "description": "Stones"})
group.labels.create({"name": "granite", "color": "#445566"})
source.groups.create({"name": "Pit", "path": "pit", "parent_id": group.id})
project = source.projects.create({"name": "Stones", "namespace_id": group.id, "description": "All of them"})
project.commits.create({
    "branch": "main",
    "commit_message": "First",
    "actions": [{"action": "create", "file_path": "README.md", "content": "# Stones\n"}],
})
for number in range(1, 31):
    issue = project.issues.create({"title": f"Issue {number}", "labels": ["granite"]})
    issue.notes.create({"body": f"Note of {number}"})
project.branches.create({"branch": "topic", "ref": "main"})
project.commits.create({
    "branch": "topic",
    "commit_message": "Second",
    "actions": [{"action": "create", "file_path": "more.txt", "content": "more\n"}],
})
project.mergerequests.create({"title": "Topic", "source_branch": "topic", "target_branch": "main"})

export = project.exports.create()
wait(export, "export_status", "finished")
with open("project.tar.gz", "wb") as file:
    export.download(streamed=True, action=file.write)

with open("project.tar.gz", "rb") as file:
    output = target.projects.import_project(
        file, path="stones", name="Stones", override_params={"visibility": "private", "description": "Moved"}
    )
done = target.projects.get(output["id"], lazy=True).imports.get()
wait(done, "import_status", "finished")
if done.failed_relations:
    raise SystemExit(f"failed: {done.failed_relations}")

export = group.exports.create()
for attempt in range(600):
    try:
        with open("group.tar.gz", "wb") as file:
            export.download(streamed=True, action=file.write)
        break
    except gitlab.exceptions.GitlabGetError as error:
        if error.response_code != 404:
            raise
        time.sleep(0.1)
with open("group.tar.gz", "rb") as file:
    target.groups.import_group(file, path="moved", name="Moved")
for attempt in range(600):
    if target.groups.get("moved").subgroups.list(get_all=True):
        break
    time.sleep(0.1)

moved = target.projects.get(output["id"])
print(json.dumps({
    "id": moved.id,
    "description": moved.description,
    "issues": [issue.title for issue in moved.issues.list(iterator=True, order_by="created_at", sort="asc")],
    "notes": [note.body for note in moved.issues.get(30).notes.list(get_all=True) if not note.system],
    "labels": moved.issues.get(1).labels,
    "merge_requests": [one.title for one in moved.mergerequests.list(get_all=True)],
    "readme": moved.files.raw("README.md", ref="main").decode(),
    "group": target.groups.get("moved").description,
    "group_labels": [label.name for label in target.groups.get("moved").labels.list(get_all=True)],
    "subgroups": [one.name for one in target.groups.get("moved").subgroups.list(get_all=True)],
}))
