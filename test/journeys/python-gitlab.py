"""The Python client that nobody here wrote, python-gitlab, over everything that is there.

Reads ASHLAR_JOURNEY_URL and ASHLAR_JOURNEY_TOKEN; ends at the first difference, with status 1 and a line that names it.
"""
import base64
import datetime
import hashlib
import io
import os
import sys
import time
import zipfile

try:
    import gitlab
    import requests
except ModuleNotFoundError as missing:
    sys.exit(f"{missing}: install the Debian package python3-gitlab")

URL = os.environ["ASHLAR_JOURNEY_URL"]
SSH_KEY = os.environ["ASHLAR_JOURNEY_SSH_KEY"]
SSH_MD5 = os.environ["ASHLAR_JOURNEY_SSH_MD5"]
GPG_KEY = os.environ["ASHLAR_JOURNEY_GPG_KEY"]
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def connect(token):
    return gitlab.Gitlab(URL, private_token=token)


root = connect(os.environ["ASHLAR_JOURNEY_TOKEN"])


def in_days(days):
    return (datetime.date.today() + datetime.timedelta(days=days)).isoformat()


class Difference(Exception):
    pass


def equal(got, expected):
    if got != expected:
        raise Difference(f"got {got!r}, expected {expected!r}")


def matches(thing, **expected):
    """The named attributes of an object, or entries of a dictionary."""
    attributes = thing if isinstance(thing, dict) else thing.attributes
    for name, value in expected.items():
        if name not in attributes:
            raise Difference(f"no {name} in {attributes}")
        if attributes[name] != value:
            raise Difference(f"{name} is {attributes[name]!r}, expected {value!r}")


def true(condition, what):
    if not condition:
        raise Difference(f"not so: {what}")


def refused(kind, status, act, text=""):
    """The client raises this kind of error, with this status and text."""
    try:
        answer = act()
    except gitlab.GitlabError as error:
        equal((type(error).__name__, error.response_code), (kind.__name__, status))
        true(text in str(error.error_message), f"{text!r} in {error.error_message!r}")
        return
    raise Difference(f"not refused with {status}: {answer!r}")


def gone(read, seconds=20):
    """It is not found any more, now or soon: what deletion does in the background."""
    for _ in range(seconds * 20):
        try:
            read()
        except gitlab.GitlabGetError as error:
            equal(error.response_code, 404)
            return
        time.sleep(0.05)
    raise Difference(f"still there after {seconds} s")


def ids(things):
    return [thing.id for thing in things]


def make_user(username, **attributes):
    user = root.users.create(
        {
            "username": username,
            "name": f"The {username}",
            "email": f"{username}@example.com",
            "password": "correct horse battery staple",
            "skip_confirmation": True,
            **attributes,
        }
    )
    token = user.personal_access_tokens.create({"name": "journey", "scopes": ["api"]})
    return user, connect(token.token)


def make_group(path, **attributes):
    return root.groups.create({"name": path, "path": path, "visibility": "private", **attributes})


def make_project(path, group, **attributes):
    return root.projects.create({"name": path, "path": path, "namespace_id": group.id, **attributes})


def users():
    ada = root.users.create(
        {
            "username": "py-ada",
            "name": "Ada",
            "email": "py-ada@example.com",
            "password": "correct horse battery staple",
            "skip_confirmation": True,
            "projects_limit": 3,
        }
    )
    matches(ada, username="py-ada", state="active", projects_limit=3, is_admin=False)
    again = {"username": "py-ada", "name": "x", "email": "x@example.com", "password": "correct horse battery"}
    refused(gitlab.GitlabCreateError, 409, lambda: root.users.create(again), "has already been taken")
    refused(gitlab.GitlabCreateError, 400, lambda: root.users.create({"username": "nameless"}), "name")
    ada.bio = "Notes"
    ada.external = True
    ada.avatar = PICTURE
    ada.save()
    matches(root.users.get(ada.id), bio="Notes", external=True, username="py-ada")
    true(".png" in ada.avatar_url, "the avatar was kept")
    equal(ids(root.users.list(username="PY-ADA")), [ada.id])
    equal(ids(root.users.list(search="py-ada@example.com")), [ada.id])
    equal(ada.block(), True)
    matches(root.users.get(ada.id), state="blocked")
    equal(ids(root.users.list(blocked=True)), [ada.id])
    equal(ada.unblock(), True)
    equal(ada.ban(), True)
    matches(root.users.get(ada.id), state="banned")
    equal(ada.unban(), True)
    equal(ada.deactivate(), True)
    matches(root.users.get(ada.id), state="deactivated")
    equal(ada.activate(), True)
    refused(gitlab.GitlabUserApproveError, 409, ada.approve)
    ada.delete()
    gone(lambda: root.users.get(ada.id))


def own_things():
    user, api = make_user("py-grace")
    api.auth()
    matches(api.user, username="py-grace", email="py-grace@example.com")
    second = api.user.emails.create({"email": "py-second@example.com"})
    user.emails.create({"email": "py-third@example.com", "skip_confirmation": True})
    true("py-third@example.com" in [each.email for each in user.emails.list()], "the third address")
    matches(api.user.emails.get(second.id), email="py-second@example.com", confirmed_at=None)
    second.delete()
    gone(lambda: api.user.emails.get(second.id))

    key = api.user.keys.create({"title": "laptop", "key": SSH_KEY})
    matches(key, title="laptop", usage_type="auth_and_signing")
    equal(ids(user.keys.list()), [key.id])
    matches(root.keys.get(fingerprint=SSH_MD5), id=key.id)
    matches(root.keys.get(key.id).user, username="py-grace")
    refused(
        gitlab.GitlabCreateError, 400, lambda: root.users.get(1).keys.create({"title": "x", "key": SSH_KEY}), "taken"
    )
    key.delete()
    equal(api.user.keys.list(), [])
    gpg = api.user.gpgkeys.create({"key": GPG_KEY})
    equal(ids(user.gpgkeys.list()), [gpg.id])
    gpg.delete()
    equal(user.gpgkeys.list(), [])

    status = api.user.status.get()
    status.message = "brewing"
    status.emoji = "coffee"
    status.save()
    matches(user.status.get(), message="brewing", emoji="coffee")
    root.users.get(user.id).follow()
    equal([each.username for each in user.followers_users.list()], ["root"])
    user.unfollow()
    equal(user.followers_users.list(), [])
    user.customattributes.set("desk", "by the window")
    matches(user.customattributes.get("desk"), value="by the window")
    equal(ids(root.users.list(custom_attributes={"desk": "by the window"})), [user.id])
    user.customattributes.delete("desk")
    equal(user.customattributes.list(), [])


def sudo():
    user, api = make_user("py-target")
    project = root.projects.create({"name": "By another"}, sudo=user.username)
    matches(project, path_with_namespace="py-target/by-another", creator_id=user.id)
    equal(ids(root.projects.list(owned=True, sudo=user.id)), [project.id])
    refused(gitlab.GitlabGetError, 404, lambda: root.projects.get(project.id, sudo="nobody"), "nobody")
    refused(gitlab.GitlabGetError, 403, lambda: api.projects.get(project.id, sudo="root"))
    refused(
        gitlab.GitlabAuthenticationError, 401, lambda: connect("glpat-wrong").projects.list(), "401 Unauthorized"
    )


def groups():
    tools = make_group("py-tools", description="All of them")
    refused(gitlab.GitlabCreateError, 400, lambda: make_group("py-tools"), "taken")
    refused(gitlab.GitlabCreateError, 400, lambda: make_group("bad path"), "path")
    saws = make_group("py-saws", parent_id=tools.id)
    matches(saws, full_path="py-tools/py-saws", parent_id=tools.id)
    saws.description = "sharp"
    saws.avatar = PICTURE
    saws.save()
    matches(root.groups.get("py-tools/py-saws"), id=saws.id, description="sharp")
    true(".png" in saws.avatar_url, "the avatar was kept")
    equal(ids(tools.subgroups.list()), [saws.id])
    fine = make_group("py-fine", parent_id=saws.id)
    equal(sorted(ids(tools.descendant_groups.list())), sorted([saws.id, fine.id]))
    equal(ids(root.groups.list(search="py-tools", top_level_only=True)), [tools.id])
    equal(ids(root.groups.list(search="py-", skip_groups=[tools.id, saws.id])), [fine.id])
    guests = make_group("py-guests")
    tools.share(guests.id, gitlab.const.DEVELOPER_ACCESS, in_days(9))
    matches(tools.shared_with_groups[0], group_id=guests.id, group_access_level=30, expires_at=in_days(9))
    tools.unshare(guests.id)
    equal(root.groups.get(tools.id).shared_with_groups, [])
    fine.transfer(guests.id)
    matches(root.groups.get(fine.id), full_path="py-guests/py-fine")
    fine.transfer()
    matches(root.groups.get(fine.id), full_path="py-fine", parent_id=None)
    refused(gitlab.GitlabGetError, 404, lambda: root.groups.get("py-tools/py-saws/py-fine"), "404 Group Not Found")
    tools.customattributes.set("cost-centre", "42")
    equal([each.value for each in tools.customattributes.list()], ["42"])
    matches(root.namespaces.get("py-tools"), kind="group", id=tools.id)
    matches(root.namespaces.exists("py-tools"), exists=True, suggests=["py-tools1"])
    saws.delete()
    true(root.groups.get(saws.id).marked_for_deletion_on is not None, "marked for deletion")
    root.http_post(f"/groups/{saws.id}/restore")
    matches(root.groups.get("py-tools/py-saws"), marked_for_deletion_on=None)


def projects():
    group = make_group("py-house")
    wall = make_project("wall", group, description="of brick", topics=["brick", "old"])
    matches(wall, path_with_namespace="py-house/wall", visibility="private", topics=["brick", "old"])
    refused(gitlab.GitlabCreateError, 409, lambda: make_project("wall", group), "has already been taken")
    refused(gitlab.GitlabCreateError, 400, lambda: make_project("bad path", group), "path")
    wall.description = "of stone"
    wall.issues_access_level = "disabled"
    wall.avatar = PICTURE
    wall.save()
    matches(root.projects.get("py-house/wall", statistics=True), description="of stone", issues_enabled=False)
    wall.star()
    matches(wall, star_count=1)
    refused(gitlab.GitlabCreateError, 304, wall.star)
    equal(ids(root.users.get(1).starred_projects.list()), [wall.id])
    wall.unstar()
    wall.archive()
    equal(ids(root.projects.list(archived=True)), [wall.id])
    wall.unarchive()
    matches(wall, archived=False)
    equal([each.username for each in wall.users.list()], ["root"])
    equal(ids(wall.groups.list()), [group.id])
    guests = make_group("py-lodgers")
    wall.share(guests.id, gitlab.const.REPORTER_ACCESS)
    equal(ids(guests.shared_projects.list()), [wall.id])
    wall.unshare(guests.id)
    copy = make_project("copy", group)
    copy.create_fork_relation(wall.id)
    equal(ids(wall.forks.list()), [copy.id])
    copy.delete_fork_relation()
    equal(wall.forks.list(), [])
    wall.customattributes.set("height", "3 m")
    matches(wall.customattributes.get("height"), value="3 m")

    # Moved twice: reading follows the redirects of the old paths, writing does not (facts: Cross-cutting behaviour).
    wall.path = "long-wall"
    wall.save()
    matches(root.projects.get("py-house/wall"), id=wall.id, path_with_namespace="py-house/long-wall")
    wall.transfer("py-lodgers")
    matches(root.projects.get("py-house/long-wall"), id=wall.id, path_with_namespace="py-lodgers/long-wall")
    equal(ids(root.projects.get("py-house/wall", lazy=True).users.list()), [1])
    refused(gitlab.GitlabUpdateError, 405, lambda: root.projects.update("py-house/wall", {"name": "x"}), "moved")

    copy.delete()
    doomed = root.projects.get(copy.id)
    true(doomed.marked_for_deletion_on is not None, "marked for deletion")
    doomed.restore()
    matches(root.projects.get(copy.id), marked_for_deletion_on=None, path="copy")
    copy.delete()
    root.projects.delete(copy.id, permanently_remove=True, full_path=root.projects.get(copy.id).path_with_namespace)
    gone(lambda: root.projects.get(copy.id))


def lists():
    group = make_group("py-many")
    made = [make_project(f"m{number}", group).id for number in range(8)]
    order = {"order_by": "id", "sort": "asc", "per_page": 3}
    page = group.projects.list(page=2, iterator=True, **order)
    equal((page.current_page, page.prev_page, page.next_page, page.per_page), (2, 1, 3, 3))
    equal((page.total, page.total_pages), (8, 3))
    equal(ids(group.projects.list(page=2, **order)), made[3:6])
    equal(ids(group.projects.list(iterator=True, **order)), made)
    equal(ids(group.projects.list(get_all=True, **order)), made)
    everything = sorted(ids(root.projects.list(get_all=True, per_page=100)))
    for sort in ("asc", "desc"):
        walked = root.projects.list(iterator=True, pagination="keyset", order_by="id", sort=sort, per_page=3)
        equal(ids(walked), everything if sort == "asc" else everything[::-1])
    people = sorted(ids(root.users.list(get_all=True)))
    for column in ("id", "name", "username", "created_at", "updated_at"):
        walked = root.users.list(iterator=True, pagination="keyset", order_by=column, sort="asc", per_page=2)
        equal(sorted(ids(walked)), people)
    events = ids(root.audit_events.list(get_all=True, per_page=100))
    walked = root.audit_events.list(iterator=True, pagination="keyset", order_by="id", sort="desc", per_page=40)
    equal(ids(walked), events)
    # Groups have it for anonymous callers only (spec: Supported keyset resources).
    for path in ("py-open-2", "py-open-1", "py-open-3"):
        make_group(path, visibility="public")
    keyset = {"pagination": "keyset", "order_by": "name", "sort": "asc", "per_page": 2}
    named = [each.path for each in gitlab.Gitlab(URL).groups.list(iterator=True, **keyset)]
    equal(named, ["py-open-1", "py-open-2", "py-open-3"])
    refused(gitlab.GitlabHttpError, 405, lambda: root.http_list("/groups", keyset), "Keyset pagination")


def members():
    user, api = make_user("py-member")
    other, _ = make_user("py-other")
    group = make_group("py-members")
    project = make_project("shed", group)
    refused(gitlab.GitlabGetError, 404, lambda: api.projects.get(project.id), "404 Project Not Found")
    member = group.members.create({"user_id": user.id, "access_level": gitlab.const.GUEST_ACCESS})
    matches(member, username="py-member", access_level=10, expires_at=None)
    twice = {"user_id": user.id, "access_level": 10}
    refused(gitlab.GitlabCreateError, 409, lambda: group.members.create(twice), "Member already exists")
    member.access_level = gitlab.const.DEVELOPER_ACCESS
    member.expires_at = in_days(4)
    member.save()
    matches(group.members.get(user.id), access_level=30, expires_at=in_days(4))
    matches(api.projects.get(project.id).permissions["group_access"], access_level=30)
    project.members.create({"user_id": other.id, "access_level": gitlab.const.REPORTER_ACCESS})
    equal(ids(project.members.list()), [other.id])
    equal(ids(project.members_all.list()), [1, user.id, other.id])
    equal(ids(project.members_all.list(user_ids=[other.id])), [other.id])
    matches(project.members_all.get(user.id), access_level=30)
    refused(gitlab.GitlabGetError, 404, lambda: project.members.get(user.id))
    theirs = api.projects.get(project.id)
    refused(gitlab.GitlabCreateError, 403, lambda: theirs.members.create({"user_id": 1, "access_level": 20}))
    equal([each.source_id for each in user.memberships.list(type="Namespace")], [group.id])
    project.members.delete(other.id)
    equal(project.members.list(), [])
    api.groups.get(group.id).members.delete(user.id)
    gone(lambda: api.groups.get(group.id))


def waiting():
    user, api = make_user("py-outsider")
    group = make_group("py-door", visibility="public")
    project = make_project("door", group, visibility="public")
    api.groups.get(group.id).accessrequests.create({})
    equal(ids(group.accessrequests.list()), [user.id])
    group.accessrequests.delete(user.id)
    equal(group.accessrequests.list(), [])
    api.projects.get(project.id).accessrequests.create({})
    (request,) = project.accessrequests.list()
    request.approve(access_level=gitlab.const.REPORTER_ACCESS)
    matches(project.members.get(user.id), access_level=20)
    group.invitations.create({"email": ["py-a@example.com", "py-b@example.com"], "access_level": 30})
    equal([each.invite_email for each in group.invitations.list()], ["py-a@example.com", "py-b@example.com"])
    group.invitations.update("py-a@example.com", {"access_level": 40})
    group.invitations.delete("py-b@example.com")
    equal([each.access_level for each in group.invitations.list()], [40])
    # Answered with 201 and what went wrong for whom: the client makes an error of that.
    already = {"email": "py-outsider@example.com", "access_level": 20}
    refused(gitlab.GitlabInvitationError, None, lambda: project.invitations.create(already), "py-outsider@example.com")


def tokens():
    user, _ = make_user("py-holder")
    terms = {"name": "reader", "scopes": ["read_api"], "expires_at": in_days(20)}
    made = user.personal_access_tokens.create(terms)
    matches(made, scopes=["read_api"], active=True, expires_at=in_days(20))
    reader = connect(made.token)
    refused(gitlab.GitlabCreateError, 403, lambda: reader.projects.create({"name": "No"}), "insufficient_scope")
    rotated = root.http_post(f"/personal_access_tokens/{made.id}/rotate")
    later = connect(rotated["token"])
    later.auth()
    matches(later.user, username="py-holder")
    true(rotated["id"] in ids(root.personal_access_tokens.list(user_id=user.id)), "the new token is listed")
    root.personal_access_tokens.delete(rotated["id"])
    refused(gitlab.GitlabAuthenticationError, 401, later.auth)
    matches(user.personal_access_tokens.create({**terms, "expires_at": in_days(-2)}), active=False)
    far = {**terms, "expires_at": in_days(400)}
    refused(gitlab.GitlabCreateError, 400, lambda: user.personal_access_tokens.create(far), "expires_at")
    wrong = {"name": "wrong", "scopes": ["everything"]}
    refused(gitlab.GitlabCreateError, 400, lambda: user.personal_access_tokens.create(wrong), "scopes")

    impersonation = user.impersonationtokens.create({"name": "as them", "scopes": ["api"]})
    connect(impersonation.token).auth()
    equal(ids(user.impersonationtokens.list(state="active")), [impersonation.id])
    impersonation.delete()
    matches(user.impersonationtokens.get(impersonation.id), revoked=True, impersonation=True)

    group = make_group("py-robots")
    project = make_project("arm", group)
    for owner in (project, group):
        robot = owner.access_tokens.create(
            {"name": "robot", "scopes": ["api"], "expires_at": in_days(30), "access_level": 30}
        )
        api = connect(robot.token)
        api.auth()
        matches(api.user, id=robot.user_id, bot=True)
        (listed,) = owner.access_tokens.list()
        matches(listed, id=robot.id, access_level=30, active=True)
        robot.delete()
        refused(gitlab.GitlabAuthenticationError, 401, api.auth)
        deploy = owner.deploytokens.create({"name": "deployer", "scopes": ["read_repository"]})
        matches(owner.deploytokens.get(deploy.id), name="deployer", revoked=False)
        true(deploy.id in ids(root.deploytokens.list()), "listed for the instance")
        deploy.delete()
        equal(owner.deploytokens.list(), [])


def instance():
    version, revision = root.version()
    true(version[0].isdigit() and revision != "unknown", f"a version: {version} {revision}")
    matches(root.get_license(), plan="ultimate", expired=False)
    _, api = make_user("py-nosy")
    refused(gitlab.GitlabGetError, 403, api.settings.get)
    settings = root.settings.get()
    settings.default_project_visibility = "internal"
    settings.save()
    matches(root.projects.create({"name": "By default"}), visibility="internal")
    settings.default_project_visibility = "private"
    settings.restricted_visibility_levels = ["public"]
    settings.save()
    matches(root.settings.get(), default_project_visibility="private", restricted_visibility_levels=["public"])
    public = {"name": "Public", "visibility": "public"}
    refused(gitlab.GitlabCreateError, 400, lambda: api.projects.create(public), "restricted")
    settings.restricted_visibility_levels = []
    settings.save()
    refused(gitlab.GitlabUpdateError, 400, lambda: root.settings.update(None, {"plantuml_enabled": True}), "plantuml")

    definitions = root.http_get("/features/definitions")
    name = definitions[0]["name"]
    matches(root.features.set(name, True), name=name, state="on")
    true(name in [each.name for each in root.features.list()], "the flag is listed")
    root.features.delete(name)
    equal(root.features.list(), [])

    group = make_group("py-watched")
    project = make_project("watched", group)
    project.name = "Renamed"
    project.save()
    newest = project.audit_events.list()[0]
    matches(newest, author_id=1, entity_id=project.id, entity_type="Project")
    equal(project.audit_events.get(newest.id).attributes, newest.attributes)
    true(group.id in [each.entity_id for each in group.audit_events.list()], "the group's own event")
    events = root.audit_events.list(entity_type="Project", entity_id=project.id)
    true("project_created" in [each.event_name for each in events], "project_created")


def repositories():
    group = make_group("py-code")
    project = make_project("code", group)
    path = "src/hello world.txt"
    made = project.files.create(
        {"file_path": path, "branch": "main", "content": "one\ntwo\n", "commit_message": "Begin"}
    )
    matches(made, file_path=path, branch="main")
    matches(root.projects.get(project.id), empty_repo=False, default_branch="main")
    file = project.files.get(path, ref="main")
    equal(file.decode(), b"one\ntwo\n")
    file.content = "one\nthree\n"
    file.save(branch="main", commit_message="Change a line")
    equal(project.files.raw(file_path=path, ref="main"), b"one\nthree\n")
    blame = project.files.blame(path, ref="main")
    equal([part["lines"] for part in blame], [["one"], ["three"]])
    binary = base64.b64encode(bytes(range(256))).decode()
    commit = project.commits.create(
        {
            "branch": "feature/one",
            "start_branch": "main",
            "commit_message": "Several at once",
            "actions": [
                {"action": "create", "file_path": "bin/all", "content": binary, "encoding": "base64"},
                {"action": "move", "file_path": "moved.txt", "previous_path": path},
                {"action": "create", "file_path": "run.sh", "content": "#!/bin/sh\n"},
                {"action": "chmod", "file_path": "run.sh", "execute_filemode": True},
            ],
        }
    )
    matches(commit, title="Several at once", author_name="Administrator")
    true(commit.stats["total"] > 0, "the commit has statistics")
    equal(project.files.raw(file_path="bin/all", ref="feature/one"), bytes(range(256)))
    refused(
        gitlab.GitlabCreateError,
        400,
        lambda: project.files.create(
            {"file_path": "run.sh", "branch": "feature/one", "content": "x", "commit_message": "Again"}
        ),
        "already exists",
    )
    equal([each.title for each in project.commits.list(ref_name="main")], ["Change a line", "Begin"])
    equal([each.title for each in project.commits.list(query_parameters={"ref_name": "feature/one", "path": "run.sh"})], ["Several at once"])
    true("bin/all" in [each["new_path"] for each in commit.diff()], "the diff names the file")
    equal([ref["name"] for ref in commit.refs("branch")], ["feature/one"])
    commit.comments.create({"note": "Well done", "path": "run.sh", "line": 1, "line_type": "new"})
    equal([each.note for each in commit.comments.list()], ["Well done"])
    status = commit.statuses.create({"state": "pending", "name": "build"})
    matches(status, status="pending", name="build", sha=commit.id)
    commit.statuses.create({"state": "success", "name": "build", "target_url": "http://ci.example/1"})
    equal([(each.name, each.status) for each in commit.statuses.list()], [("build", "success")])

    entries = project.repository_tree(ref="feature/one")
    equal([entry["name"] for entry in entries], ["bin", "moved.txt", "run.sh"])
    walked = project.repository_tree(ref="feature/one", recursive=True, iterator=True, pagination="keyset", per_page=2)
    equal(sorted(entry["path"] for entry in walked), ["bin", "bin/all", "moved.txt", "run.sh"])
    equal(project.repository_raw_blob([entry["id"] for entry in entries if entry["name"] == "run.sh"][0]), b"#!/bin/sh\n")
    comparison = project.repository_compare("main", "feature/one")
    equal([each["title"] for each in comparison["commits"]], ["Several at once"])
    equal(project.repository_merge_base(["main", "feature/one"])["title"], "Change a line")
    true(project.repository_archive(sha="main")[:2] == b"\x1f\x8b", "an archive is a gzip file")
    true(project.repository_archive(sha="main", format="zip")[:2] == b"PK", "or a zip file")
    equal([(each["name"], each["commits"]) for each in project.repository_contributors()], [("Administrator", 2)])
    true("Shell" in project.languages() or project.languages() == {}, "languages by bytes")

    branch = project.branches.create({"branch": "second", "ref": "main"})
    matches(branch, name="second", protected=False, default=False, merged=False)
    equal(sorted(each.name for each in project.branches.list()), ["feature/one", "main", "second"])
    refused(gitlab.GitlabCreateError, 400, lambda: project.branches.create({"branch": "second", "ref": "main"}), "exists")
    refused(gitlab.GitlabGetError, 404, lambda: project.branches.get("third"), "Branch Not Found")
    picked = project.commits.get(commit.id).cherry_pick(branch="second")
    equal([each.title for each in project.commits.list(ref_name="second", per_page=1, page=1)], ["Several at once"])
    head = project.branches.get("second").commit["id"]
    project.commits.get(head).revert(branch="second")
    true(project.commits.list(ref_name="second", per_page=1, page=1)[0].title.startswith("Revert"), "a revert")
    branch.delete()
    tag = project.tags.create({"tag_name": "v1.0", "ref": "main", "message": "The first"})
    matches(tag, name="v1.0", message="The first", protected=False)
    equal([each.name for each in project.tags.list(search="v1")], ["v1.0"])
    protected = project.protectedtags.create({"name": "v*", "create_access_level": 40})
    matches(project.tags.get("v1.0"), protected=True)
    project.tags.delete("v1.0")
    refused(gitlab.GitlabGetError, 404, lambda: project.tags.get("v1.0"))
    protected.delete()

    matches(project.protectedbranches.get("main"), name="main", allow_force_push=False)
    project.protectedbranches.create({"name": "release/*", "push_access_level": 0, "merge_access_level": 40})
    user, api = make_user("py-coder")
    project.members.create({"user_id": user.id, "access_level": gitlab.const.AccessLevel.DEVELOPER})
    theirs = api.projects.get(project.id)
    change = {"file_path": "x", "branch": "main", "content": "x", "commit_message": "X"}
    refused(gitlab.GitlabCreateError, 403, lambda: theirs.files.create(change))
    change.update(branch="topic", start_branch="main")
    theirs.files.create(change)
    theirs.branches.delete("topic")
    key = project.keys.create({"title": "deploy", "key": SSH_KEY, "can_push": True})
    matches(project.keys.get(key.id), title="deploy", can_push=True)
    key.delete()

    fork = project.forks.create({"path": "code-fork", "name": "Code fork"})
    copy = root.projects.get(fork.id)
    matches(copy.forked_from_project, id=project.id)
    equal(root.projects.get(fork.id).files.raw(file_path=path, ref="main"), b"one\nthree\n")


def snippets():
    given = {"title": "Mine", "visibility": "private", "file_name": "a.txt", "content": "a"}
    snippet = root.snippets.create(given)
    matches(snippet, title="Mine", file_name="a.txt", project_id=None)
    added = {"action": "create", "file_path": "b/c.txt", "content": "c"}
    root.http_put(f"/snippets/{snippet.id}", post_data={"files": [added]})
    equal([file["path"] for file in root.snippets.get(snippet.id).files], ["a.txt", "b/c.txt"])
    equal(snippet.content(), b"a")
    snippet.title = "Ours"
    snippet.visibility = "public"
    snippet.save()
    true(snippet.id in ids(root.snippets.list(get_all=True)), "listed")
    _, api = make_user("py-reader")
    matches(api.snippets.get(snippet.id), title="Ours")
    refused(gitlab.GitlabDeleteError, 403, lambda: api.snippets.delete(snippet.id))
    snippet.delete()
    gone(lambda: root.snippets.get(snippet.id))
    project = make_project("with-snippets", make_group("py-snippets"))
    inside = project.snippets.create({"title": "In it", "file_name": "x.py", "content": "print(1)", "visibility": "private"})
    matches(project.snippets.get(inside.id), title="In it", project_id=project.id)
    equal(inside.content(), b"print(1)")
    inside.delete()


def wikis():
    project = make_project("with-wiki", make_group("py-wikis"))
    page = project.wikis.create({"title": "Home of all", "content": "# Hello"})
    matches(page, slug="Home-of-all", title="Home of all", format="markdown")
    page.content = "# Again"
    page.save()
    matches(project.wikis.get("Home-of-all"), content="# Again")
    project.wikis.create({"title": "deep/er", "content": "x"})
    equal(sorted(each.slug for each in project.wikis.list()), ["Home-of-all", "deep/er"])
    page.delete()
    equal([each.slug for each in project.wikis.list()], ["deep/er"])
    group = make_group("py-group-wiki")
    matches(group.wikis.create({"title": "Ours", "content": "x"}), slug="Ours")


def moves():
    project = make_project("moving", make_group("py-moves"))
    project.files.create({"file_path": "a", "branch": "main", "content": "a", "commit_message": "A"})
    matches(project, repository_storage="default")
    # The client has no manager of these.
    destination = {"destination_storage_name": "fast"}
    move_id = root.http_post(f"/projects/{project.id}/repository_storage_moves", post_data=destination)["id"]
    for _ in range(400):
        state = root.http_get(f"/project_repository_storage_moves/{move_id}")["state"]
        if state in ("finished", "failed"):
            break
        time.sleep(0.05)
    equal(state, "finished")
    matches(root.projects.get(project.id), repository_storage="fast")
    equal(project.files.raw(file_path="a", ref="main"), b"a")
    project.files.create({"file_path": "b", "branch": "main", "content": "b", "commit_message": "B"})
    equal([each.id for each in root.projects.list(repository_storage="fast")], [project.id])
    refused(
        gitlab.GitlabHttpError,
        400,
        lambda: root.http_post("/project_repository_storage_moves", post_data={"source_storage_name": "no"}),
        "source_storage_name does not have a valid value",
    )


def labels():
    group = make_group("py-labels")
    project = make_project("labelled", group)
    bug = project.labels.create({"name": "bug", "color": "#FF0000", "description": "Broken", "priority": 2})
    matches(bug, name="bug", text_color="#FFFFFF", description="Broken", priority=2, is_project_label=True)
    project.labels.create({"name": "two words", "color": "red"})
    equal([each.name for each in project.labels.list(search="two")], ["two words"])
    matches(project.labels.list(with_counts=True, search="bug")[0], open_issues_count=0, closed_issues_count=0)
    bug.new_name = "defect"
    bug.color = "#00FF00"
    bug.save()
    defect = project.labels.get("defect")
    matches(defect, name="defect", description="Broken")
    defect.subscribe()
    matches(project.labels.get("defect"), subscribed=True)
    defect.unsubscribe()
    matches(project.labels.get("defect"), subscribed=False)
    refused(
        gitlab.GitlabCreateError,
        409,
        lambda: project.labels.create({"name": "defect", "color": "#00FF00"}),
        "Label already exists",
    )
    project.labels.get("two words").delete()
    gone(lambda: project.labels.get("two words"))
    defect.promote()
    promoted = group.labels.get("defect")
    matches(promoted, name="defect")
    ours = group.labels.create({"name": "ours", "color": "#112233"})
    ours.description = "Of all"
    ours.save()
    ours.subscribe()
    matches(group.labels.get("ours"), description="Of all", subscribed=True)
    ours.unsubscribe()
    equal(sorted(each.name for each in project.labels.list()), ["defect", "ours"])
    equal([each.name for each in project.labels.list(include_ancestor_groups=False)], [])
    for parent in (project, group):
        board = parent.boards.create({"name": "Plan"})
        board.name = "Work"
        board.save()
        matches(parent.boards.get(board.id), name="Work", lists=[])
        first, second = (board.lists.create({"label_id": each.id}) for each in (promoted, ours))
        second.position = 0
        second.save()
        equal(ids(board.lists.list()), [second.id, first.id])
        matches(board.lists.get(first.id), position=1)
        first.delete()
        equal([each.label["name"] for each in board.lists.list()], ["ours"])
        board.delete()
        equal(parent.boards.list(), [])
    ours.delete()
    equal([each.name for each in group.labels.list()], ["defect"])


def milestones():
    group = make_group("py-milestones")
    project = make_project("planned", group)
    one = project.milestones.create({"title": "1.0", "description": "First", "due_date": in_days(7), "start_date": in_days(0)})
    matches(one, title="1.0", state="active", project_id=project.id, due_date=in_days(7), expired=False)
    one.title = "1.1"
    one.state_event = "close"
    one.save()
    matches(project.milestones.get(one.id), title="1.1", state="closed")
    equal(ids(project.milestones.list(state="active")), [])
    equal(ids(project.milestones.list(state="closed", search="1.")), [one.id])
    equal(ids(project.milestones.list(iids=[one.iid])), [one.id])
    issue = project.issues.create({"title": "Planned", "milestone_id": one.id})
    equal(ids(one.issues()), [issue.id])
    one.promote()
    equal([each.title for each in group.milestones.list()], ["1.1"])
    theirs = group.milestones.create({"title": "2.0"})
    matches(theirs, title="2.0", group_id=group.id)
    theirs.description = "Later"
    theirs.save()
    matches(group.milestones.get(theirs.id), description="Later")
    issue.milestone_id = theirs.id
    issue.save()
    equal(ids(theirs.issues()), [issue.id])
    theirs.delete()
    equal([each.title for each in group.milestones.list()], ["1.1"])
    refused(gitlab.GitlabCreateError, 400, lambda: project.milestones.create({"title": "x", "due_date": "soon"}), "due_date")


def issues():
    group = make_group("py-issues")
    project = make_project("with-issues", group)
    other = make_project("elsewhere", group)
    user, api = make_user("py-solver")
    project.members.create({"user_id": user.id, "access_level": 20})
    milestone = project.milestones.create({"title": "Soon"})
    first = project.issues.create(
        {
            "title": "First",
            "description": "- [x] one\n- [ ] two",
            "labels": "bug,urgent",
            "assignee_ids": [user.id],
            "milestone_id": milestone.id,
            "due_date": in_days(3),
            "weight": 5,
        }
    )
    matches(first, iid=1, title="First", state="opened", labels=["bug", "urgent"], weight=5, due_date=in_days(3))
    equal((first.assignee["id"], first.milestone["id"]), (user.id, milestone.id))
    matches(first.task_completion_status, count=2, completed_count=1)
    secret = project.issues.create({"title": "Secret", "confidential": True, "issue_type": "incident"})
    matches(secret, iid=2, confidential=True, issue_type="incident")
    first.title = "The first"
    first.state_event = "close"
    first.save()
    matches(project.issues.get(1), title="The first", state="closed")
    first.state_event = "reopen"
    first.labels = ["bug"]
    first.save()
    matches(project.issues.get(1), state="opened", labels=["bug"])
    equal([each.iid for each in project.issues.list(state="opened", order_by="created_at", sort="asc")], [1, 2])
    equal([each.iid for each in project.issues.list(labels=["bug"], assignee_id=user.id)], [1])
    equal([each.iid for each in project.issues.list(search="secret", confidential=True)], [2])
    equal([each.iid for each in project.issues.list(milestone="Soon")], [1])
    equal([each.iid for each in project.issues.list(iids=[2])], [2])
    equal(sorted(ids(group.issues.list())), sorted([first.id, secret.id]))
    equal(ids(api.issues.list(scope="assigned_to_me")), [first.id])
    matches(root.issues.get(first.id), title="The first")
    matches(project.issues_statistics.get().statistics["counts"], all=2, opened=2, closed=0)
    matches(group.issues_statistics.get().statistics["counts"], all=2)
    matches(root.issues_statistics.get(search="The first").statistics["counts"], all=1)

    first.unsubscribe()
    matches(project.issues.get(1), subscribed=False)
    first.subscribe()
    matches(project.issues.get(1), subscribed=True)
    refused(gitlab.GitlabSubscribeError, 304, first.subscribe)
    matches(first.time_estimate("3h30m"), human_time_estimate="3h 30m", time_estimate=12600)
    matches(first.add_spent_time("1h"), total_time_spent=3600)
    matches(project.issues.get(1).time_stats(), human_total_time_spent="1h", time_estimate=12600)
    matches(first.reset_spent_time(), total_time_spent=0)
    matches(first.reset_time_estimate(), time_estimate=0)
    equal(sorted(each["id"] for each in first.participants()), sorted([1, user.id]))
    equal(first.related_merge_requests(), [])
    equal(first.closed_by(), [])
    matches(first.user_agent_detail(), akismet_submitted=False)
    first.reorder(move_after_id=secret.id)

    equal([each.state for each in first.resourcestateevents.list()], ["closed", "reopened"])
    added = first.resourcelabelevents.list()
    true({"add", "remove"} == {each.action for each in added}, "labels came and went")
    matches(first.resourcelabelevents.get(added[0].id), id=added[0].id)
    event = first.resourcemilestoneevents.list()[0]
    equal((event.action, event.milestone["id"]), ("add", milestone.id))
    matches(first.resourcemilestoneevents.get(event.id), id=event.id)
    equal(group.iterations.list(state="current", search="sprint", include_ancestors=True), [])
    equal(ids(project.issues.list(iteration_id="None", search="The first")), [first.id])
    matches(first.resourcestateevents.get(first.resourcestateevents.list()[0].id), state="closed")

    source, target = first.links.create({"target_project_id": project.id, "target_issue_iid": 2, "link_type": "blocks"})
    equal((source.iid, target.iid), (1, 2))
    link = first.links.list()[0]
    matches(link, iid=2, link_type="blocks")
    first.links.delete(link.issue_link_id)
    equal(first.links.list(), [])

    refused(gitlab.GitlabGetError, 404, lambda: api.projects.get(other.id))
    guest, guest_api = make_user("py-guest")
    project.members.create({"user_id": guest.id, "access_level": 10})
    refused(gitlab.GitlabGetError, 404, lambda: guest_api.projects.get(project.id).issues.get(2))
    refused(gitlab.GitlabDeleteError, 403, lambda: guest_api.projects.get(project.id).issues.delete(1))
    refused(gitlab.GitlabCreateError, 400, lambda: project.issues.create({"title": ""}), "title")
    secret.move(other.id)
    matches(secret, project_id=other.id, iid=1)
    matches(project.issues.get(2), state="closed", moved_to_id=secret.id)
    clone = root.http_post(f"/projects/{project.id}/issues/1/clone", post_data={"to_project_id": other.id})
    matches(clone, project_id=other.id, title="The first")
    first.delete()
    gone(lambda: project.issues.get(1))


def conversation():
    project = make_project("talking", make_group("py-talk"))
    user, api = make_user("py-talker")
    project.members.create({"user_id": user.id, "access_level": 20})
    issue = project.issues.create({"title": "Talk"})
    note = issue.notes.create({"body": "Hello @py-talker"})
    matches(note, body="Hello @py-talker", system=False, noteable_iid=issue.iid, internal=False)
    note.body = "Hello again"
    note.save()
    matches(issue.notes.get(note.id), body="Hello again")
    issue.notes.create({"body": "Between us", "internal": True})
    equal([each.body for each in issue.notes.list(sort="asc", order_by="created_at", activity_filter="only_comments")], ["Hello again", "Between us"])
    their_issue = api.projects.get(project.id).issues.get(issue.iid)
    refused(gitlab.GitlabUpdateError, 403, lambda: their_issue.notes.update(note.id, {"body": "Mine"}))

    thread = issue.discussions.create({"body": "A thread"})
    answer = thread.notes.create({"body": "An answer"})
    matches(answer, body="An answer", type="DiscussionNote")
    equal([each["body"] for each in issue.discussions.get(thread.id).attributes["notes"]], ["A thread", "An answer"])
    answer.body = "A better answer"
    answer.save()
    matches(thread.notes.get(answer.id), body="A better answer")
    true(thread.id in ids(issue.discussions.list(get_all=True)), "listed")
    answer.delete()
    equal(len(issue.discussions.get(thread.id).attributes["notes"]), 1)

    award = issue.awardemojis.create({"name": "thumbsup"})
    matches(award, name="thumbsup", awardable_id=issue.id, awardable_type="Issue")
    matches(project.issues.get(issue.iid), upvotes=1)
    matches(issue.awardemojis.get(award.id), name="thumbsup")
    equal(ids(issue.awardemojis.list()), [award.id])
    award.delete()
    matches(project.issues.get(issue.iid), upvotes=0)
    smile = note.awardemojis.create({"name": "smile"})
    matches(note.awardemojis.get(smile.id), awardable_type="Note")
    equal(ids(note.awardemojis.list()), [smile.id])
    smile.delete()
    equal(note.awardemojis.list(), [])

    root.http_post(f"/projects/{project.id}/issues/{issue.iid}/notes", post_data={"body": "/close"})
    matches(project.issues.get(issue.iid), state="closed")
    note.delete()
    gone(lambda: issue.notes.get(note.id))

    snippet = project.snippets.create({"title": "S", "file_name": "a", "content": "a", "visibility": "private"})
    said = snippet.notes.create({"body": "Nice"})
    said.body = "Very nice"
    said.save()
    matches(snippet.notes.get(said.id), body="Very nice", noteable_type="Snippet")
    equal(ids(snippet.notes.list()), [said.id])
    talk = snippet.discussions.create({"body": "Why?"})
    talk.notes.create({"body": "Because"})
    equal(len(snippet.discussions.get(talk.id).attributes["notes"]), 2)
    star = snippet.awardemojis.create({"name": "star"})
    equal(ids(snippet.awardemojis.list()), [star.id])
    star.delete()
    heart = said.awardemojis.create({"name": "heart"})
    matches(said.awardemojis.get(heart.id), name="heart")
    heart.delete()
    said.delete()

    project.files.create({"file_path": "a", "branch": "main", "content": "a", "commit_message": "A"})
    commit = project.commits.list()[0]
    asked = commit.discussions.create({"body": "Really?"})
    reply = asked.notes.create({"body": "Yes"})
    matches(asked.notes.get(reply.id), body="Yes", noteable_type="Commit")
    equal(len(commit.discussions.get(asked.id).attributes["notes"]), 2)
    true(asked.id in ids(commit.discussions.list()), "listed")
    reply.delete()


def epics():
    group = make_group("py-epics")
    project = make_project("in-epics", group)
    group.labels.create({"name": "large", "color": "#123456"})
    epic = group.epics.create({"title": "Everything", "description": "All", "labels": "large"})
    matches(epic, iid=1, title="Everything", state="opened", labels=["large"], group_id=group.id)
    epic.title = "Nearly everything"
    epic.save()
    matches(group.epics.get(1), title="Nearly everything")
    equal([each.iid for each in group.epics.list(search="nearly", labels="large")], [1])
    issue = project.issues.create({"title": "A part"})
    second = project.issues.create({"title": "Another part"})
    assigned = epic.issues.create({"issue_id": issue.id})
    matches(assigned, epic_issue_id=assigned.epic_issue_id)
    epic.issues.create({"issue_id": second.id})
    equal(sorted(ids(epic.issues.list())), sorted([issue.id, second.id]))
    matches(project.issues.get(issue.iid), epic_iid=1)
    assigned.move_after_id = [each for each in epic.issues.list() if each.id == second.id][0].epic_issue_id
    assigned.save()
    assigned.delete()
    equal(ids(epic.issues.list()), [second.id])
    note = epic.notes.create({"body": "Go on"})
    note.body = "Stop"
    note.save()
    matches(epic.notes.get(note.id), body="Stop", noteable_type="Epic")
    true(note.id in ids(epic.notes.list()), "listed")
    note.delete()
    events = epic.resourcelabelevents.list()
    equal([each.action for each in events], ["add"])
    matches(epic.resourcelabelevents.get(events[0].id), action="add")
    # The client has no manager of these.
    child = root.http_post(f"/groups/{group.id}/epics/1/epics", post_data={"title": "Below"})
    equal([each["id"] for each in root.http_list(f"/groups/{group.id}/epics/1/epics")], [child["id"]])
    root.http_post(f"/groups/{group.id}/epics/1/award_emoji", post_data={"name": "rocket"})
    root.http_post(f"/groups/{group.id}/epics/1/todo")
    epic.state_event = "close"
    epic.save()
    matches(group.epics.get(1), state="closed")
    epic.delete()
    gone(lambda: group.epics.get(1))


def todos():
    project = make_project("to-do", make_group("py-todos"))
    user, api = make_user("py-busy")
    project.members.create({"user_id": user.id, "access_level": 20})
    issue = project.issues.create({"title": "Do it", "assignee_ids": [user.id]})
    project.issues.create({"title": "And look", "description": "See, @py-busy"})
    equal(sorted(each.action_name for each in api.todos.list()), ["assigned", "mentioned"])
    equal([each.target["iid"] for each in api.todos.list(action="assigned", type="Issue")], [issue.iid])
    todo = api.todos.list(action="assigned")[0]
    matches(todo, state="pending", target_type="Issue", body="Do it")
    todo.mark_as_done()
    matches(todo, state="done")
    equal(len(api.todos.list(state="pending")), 1)
    theirs = api.projects.get(project.id).issues.get(issue.iid)
    theirs.todo()
    refused(gitlab.GitlabTodoError, 304, theirs.todo)
    equal(len(api.todos.list(project_id=project.id, author_id=user.id)), 1)
    api.todos.mark_all_as_done()
    equal(api.todos.list(), [])


def feed():
    group = make_group("py-feed")
    project = make_project("told", group)
    user, api = make_user("py-writer")
    project.members.create({"user_id": user.id, "access_level": 40})
    mine = api.projects.get(project.id)
    issue = mine.issues.create({"title": "Leak"})
    issue.notes.create({"body": "It drips"})
    issue.state_event = "close"
    issue.save()
    mine.milestones.create({"title": "Dry"})
    mine.files.create({"file_path": "a", "branch": "main", "content": "A", "commit_message": "Begin"})
    mine.wikis.create({"title": "Pipes", "content": "x"})
    told = [
        ("joined", None, None), ("opened", "Issue", "Leak"), ("commented on", "Note", "Leak"), ("closed", "Issue", "Leak"),
        ("opened", "Milestone", "Dry"), ("pushed new", None, None), ("created", "WikiPage::Meta", "Pipes"),
    ]

    def lines(events):
        return [(each.action_name, each.target_type, each.target_title) for each in events]

    equal(lines(api.events.list(sort="asc", get_all=True)), told)
    equal(lines(root.users.get(user.id).events.list(sort="asc", get_all=True)), told)
    equal(lines(mine.events.list(sort="asc", get_all=True)), [("created", None, None), *told])
    equal(lines(api.events.list(scope="all", sort="asc", per_page=3, iterator=True)), [("created", None, None), *told])
    equal(lines(mine.events.list(target_type="issue")), [told[3], told[1]])
    equal(lines(mine.events.list(target_type="wiki", action="created")), [told[6]])
    equal(lines(mine.events.list(before=in_days(-1))), [])
    equal(lines(mine.events.list(after=in_days(-1), action="pushed")), [told[5]])
    pushed = mine.events.list(action="pushed")[0]
    matches(pushed, author_username="py-writer", title=None, imported=False, imported_from="none")
    matches(pushed.push_data, ref="main", ref_type="branch", action="created", commit_title="Begin", ref_count=None)
    noted = mine.events.list(target_type="note")[0]
    matches(noted, data=None)
    matches(noted.note, body="It drips", noteable_type="Issue", noteable_iid=1, system=False)
    refused(gitlab.GitlabListError, 400, lambda: mine.events.list(action="sung"), "action does not have a valid value")


def notification_settings():
    group = make_group("py-mail")
    project = make_project("mailed", group)
    user, api = make_user("py-reader-of-mail")
    group.members.create({"user_id": user.id, "access_level": 20})
    everything = api.notificationsettings.get()
    matches(everything, level="participating", notification_email="py-reader-of-mail@example.com")
    everything.level = "watch"
    everything.save()
    equal(api.notificationsettings.get().attributes, {**everything.attributes, "level": "watch"})
    of_group = api.groups.get(group.id).notificationsettings
    matches(of_group.get(), level="global")
    said = of_group.get()
    said.level = "mention"
    said.save()
    equal(of_group.get().attributes["level"], "mention")
    true("events" not in of_group.get().attributes, "no events but with the level custom")
    of_project = api.projects.get(project.id).notificationsettings
    said = of_project.get()
    said.level = "custom"
    said.new_note = True
    said.close_issue = False
    said.save()
    matches(of_project.get(), level="custom")
    matches(of_project.get().events, new_note=True, close_issue=False, new_issue=None, moved_project=True)
    true("approver" not in of_project.get().events, "no approver in the answer")
    said = of_project.get()
    said.level = "disabled"
    said.save()
    equal(of_project.get().attributes["level"], "disabled")
    refused(gitlab.GitlabUpdateError, 400, lambda: api.notificationsettings.update(None, {"level": "loud"}), "not a valid level")
    elsewhere = {"notification_email": "elsewhere@example.com"}
    refused(
        gitlab.GitlabUpdateError, 400, lambda: api.notificationsettings.update(None, elsewhere), "is not an email you own"
    )
    _, outsider = make_user("py-mail-outsider")
    outside = outsider.projects.get(project.id, lazy=True).notificationsettings
    refused(gitlab.GitlabGetError, 404, outside.get)


def uploads():
    project = make_project("with-files", make_group("py-uploads"))
    uploaded = project.upload("dot.png", filedata=PICTURE)
    equal(uploaded["alt"], "dot")
    equal(uploaded["markdown"], f"![dot]({uploaded['url']})")
    listed = root.http_list(f"/projects/{project.id}/uploads")
    equal([each["filename"] for each in listed], ["dot.png"])
    raw = root.http_get(f"/projects/{project.id}/uploads/{listed[0]['id']}", raw=True)
    equal(raw.content, PICTURE)
    project.issues.create({"title": "See", "description": uploaded["markdown"]})
    html = root.markdown("**b** <script>x</script>", gfm=True, project=project.path_with_namespace)
    true("<strong>b</strong>" in html and "<script" not in html, html)
    root.http_delete(f"/projects/{project.id}/uploads/{listed[0]['id']}")
    equal(root.http_list(f"/projects/{project.id}/uploads"), [])


def make_reviewed(path, group):
    """A project, and the head of its branch `topic`, which changes line 3 of a.txt."""
    project = make_project(path, group)
    lines = [f"line {number}\n" for number in range(1, 6)]
    commit_to(project, "main", {"a.txt": "".join(lines)})
    lines[2] = "three\n"
    return project, commit_to(project, "topic", {"a.txt": "".join(lines)}, start_branch="main")


def commit_to(project, branch, files, **where):
    known = [each["path"] for each in project.repository_tree()] if where or branch != "main" else []
    actions = [
        {"action": "update" if path in known else "create", "file_path": path, "content": content}
        for path, content in files.items()
    ]
    made = project.commits.create(
        {"branch": branch, "commit_message": f"Change {', '.join(files)}", "actions": actions, **where}
    )
    return made.id


def becomes(read, expected, seconds=20):
    """What follows a push or a merge is done soon."""
    for _ in range(seconds * 20):
        got = read()
        if got == expected:
            return
        time.sleep(0.05)
    equal(got, expected)


def merge_requests():
    group = make_group("py-merge")
    project, head = make_reviewed("merge", group)
    user, api = make_user("py-reviewer")
    project.members.create({"user_id": user.id, "access_level": 30})
    milestone = project.milestones.create({"title": "Soon"})
    first = project.mergerequests.create(
        {
            "source_branch": "topic",
            "target_branch": "main",
            "title": "Draft: Three in words",
            "description": "- [x] one\n- [ ] two",
            "labels": ["bug", "urgent"],
            "assignee_ids": [1],
            "reviewer_ids": [user.id],
            "milestone_id": milestone.id,
        }
    )
    matches(first, iid=1, state="opened", sha=head, draft=True, labels=["bug", "urgent"], changes_count="1")
    matches(first, merge_status="can_be_merged", detailed_merge_status="draft_status", source_project_id=project.id)
    matches(first.task_completion_status, count=2, completed_count=1)
    equal((first.diff_refs["head_sha"], first.reviewers[0]["id"], first.milestone["id"]), (head, user.id, milestone.id))
    equal(first.web_url, f"{URL}/py-merge/merge/-/merge_requests/1")
    commit_to(project, "other", {"b.txt": "b\n"}, start_branch="main")
    second = project.mergerequests.create({"source_branch": "other", "target_branch": "main", "title": "Add b"})
    again = {"source_branch": "topic", "target_branch": "main", "title": "Again"}
    refused(gitlab.GitlabCreateError, 409, lambda: project.mergerequests.create(again), "!1")
    refused(gitlab.GitlabCreateError, 400, lambda: project.mergerequests.create({**again, "source_branch": "none"}), "does not exist")
    refused(gitlab.GitlabCreateError, 422, lambda: project.mergerequests.create({**again, "source_branch": "main"}), "same project/branch")
    refused(gitlab.GitlabGetError, 404, lambda: project.mergerequests.get(9), "404")

    def found(**filters):
        return [each.iid for each in project.mergerequests.list(order_by="created_at", sort="asc", **filters)]

    equal(found(state="opened"), [1, 2])
    equal(found(labels=["bug", "urgent"]), [1])
    equal(found(labels=["None"]), [2])
    equal(found(milestone="Soon"), [1])
    equal(found(wip="yes"), [1])
    equal(found(search="words"), [1])
    equal(found(iids=[2]), [2])
    equal(found(source_branch="other", target_branch="main"), [2])
    equal(found(author_id=user.id), [])
    equal(found(assignee_id=1), [1])
    equal(found(my_reaction_emoji="None", view="simple"), [1, 2])
    equal(sorted(ids(group.mergerequests.list())), sorted([first.id, second.id]))
    equal(ids(api.mergerequests.list(scope="all", reviewer_id=user.id)), [first.id])
    true(first.id in ids(root.mergerequests.list(scope="assigned_to_me", state="opened")), "assigned to root")

    first.title = "Three"
    first.description = "Without tasks"
    first.labels = ["bug"]
    first.discussion_locked = True
    first.save()
    matches(project.mergerequests.get(1), title="Three", draft=False, labels=["bug"], discussion_locked=True)
    second.state_event = "close"
    second.save()
    matches(project.mergerequests.get(2), state="closed", closed_by=second.closed_by)
    equal((second.closed_by["id"], found(state="closed")), (1, [2]))
    second.state_event = "reopen"
    second.save()
    matches(project.mergerequests.get(2), state="opened", closed_at=None)
    equal([each.state for each in second.resourcestateevents.list()], ["closed", "reopened"])
    equal([(each.action, each.label["name"]) for each in first.resourcelabelevents.list()], [("add", "bug"), ("add", "urgent"), ("remove", "urgent")])
    equal([each.action for each in first.resourcemilestoneevents.list()], ["add"])

    equal(sorted(each["id"] for each in first.participants()), sorted([1, user.id]))
    equal([each.target["iid"] for each in api.todos.list(action="review_requested")], [1])
    first.todo()
    (todo,) = root.todos.list(action="marked", project_id=project.id)
    equal((todo.target_type, todo.target["iid"]), ("MergeRequest", 1))
    refused(gitlab.GitlabTodoError, 304, first.todo)
    first.unsubscribe()
    matches(project.mergerequests.get(1), subscribed=False)
    first.subscribe()
    refused(gitlab.GitlabSubscribeError, 304, first.subscribe)
    matches(first.time_estimate("3h30m"), human_time_estimate="3h 30m", time_estimate=12600)
    matches(first.add_spent_time("1h"), total_time_spent=3600)
    matches(project.mergerequests.get(1).time_stats(), human_total_time_spent="1h", time_estimate=12600)
    matches(first.reset_spent_time(), total_time_spent=0)
    matches(first.reset_time_estimate(), time_estimate=0)
    award = first.awardemojis.create({"name": "thumbsup"})
    matches(project.mergerequests.get(1), upvotes=1)
    award.delete()
    refused(gitlab.GitlabDeleteError, 403, api.projects.get(project.id).mergerequests.get(2).delete)
    second.delete()
    gone(lambda: project.mergerequests.get(2))


def review():
    group = make_group("py-review")
    project, head = make_reviewed("review", group)
    user, api = make_user("py-critic")
    project.members.create({"user_id": user.id, "access_level": 30})
    request = project.mergerequests.create({"source_branch": "topic", "target_branch": "main", "title": "Topic"})
    critic = api.projects.get(project.id).mergerequests.get(1)
    changes = request.changes()
    equal(([each["new_path"] for each in changes["changes"]], changes["overflow"]), (["a.txt"], False))
    true("-line 3\n+three\n" in changes["changes"][0]["diff"], "the diff")
    equal([each["new_path"] for each in root.http_list(f"{request.manager.path}/1/diffs", iterator=True)], ["a.txt"])
    equal(ids(request.commits()), [head])

    position = {**request.diff_refs, "position_type": "text", "old_path": "a.txt", "new_path": "a.txt"}
    thread = critic.discussions.create({"body": "Why words?", "position": {**position, "new_line": 3}})
    (note,) = thread.attributes["notes"]
    matches(note, type="DiffNote", resolvable=True, resolved=False)
    matches(note["position"], new_line=3, old_line=None, head_sha=head)
    thread.notes.create({"body": "They read better"})
    nowhere = {"body": "Where?", "position": {**position, "new_line": 300}}
    refused(gitlab.GitlabCreateError, 400, lambda: critic.discussions.create(nowhere))
    thread.resolved = True
    thread.save()
    settled = request.discussions.get(thread.id).attributes["notes"]
    equal([(each["body"], each["resolved"]) for each in settled], [("Why words?", True), ("They read better", True)])
    thread.resolved = False
    thread.save()
    project.only_allow_merge_if_all_discussions_are_resolved = True
    project.save()
    matches(project.mergerequests.get(1), blocking_discussions_resolved=False, detailed_merge_status="discussions_not_resolved")
    refused(gitlab.GitlabMRClosedError, 405, request.merge, "405 Method Not Allowed")

    # This version of the client has no drafts: its lower half sends them.
    drafts = f"/projects/{project.id}/merge_requests/1/draft_notes"
    made = api.http_post(drafts, post_data={"note": "Done", "in_reply_to_discussion_id": thread.id, "resolve_discussion": True})
    matches(made, note="Done", author_id=user.id, resolve_discussion=True, discussion_id=thread.id)
    equal(root.http_get(drafts), [])
    matches(api.http_put(f"{drafts}/{made['id']}", post_data={"note": "Well done"}), note="Well done")
    api.http_post(f"{drafts}/bulk_publish")
    equal(api.http_get(drafts), [])
    matches(project.mergerequests.get(1), blocking_discussions_resolved=True, detailed_merge_status="mergeable")
    said = [each["body"] for each in request.discussions.get(thread.id).attributes["notes"]]
    equal(said, ["Why words?", "They read better", "Well done"])
    note = critic.notes.create({"body": "Fine"})
    note.body = "Fine by me"
    note.save()
    equal(request.notes.get(note.id).body, "Fine by me")
    note.delete()
    gone(lambda: request.notes.get(note.id))

    newer = commit_to(project, "topic", {"b.txt": "b\n"})
    becomes(lambda: project.mergerequests.get(1).sha, newer)
    versions = request.diffs.list()
    equal([each.head_commit_sha for each in versions], [newer, head])
    newest = request.diffs.get(versions[0].id)
    matches(newest, state="collected", real_size="2")
    equal([each["new_path"] for each in newest.diffs], ["a.txt", "b.txt"])
    equal([each["id"] for each in newest.commits], [newer, head])


def merging():
    group = make_group("py-merging")
    project, head = make_reviewed("merging", group)
    issue = project.issues.create({"title": "Numbers are hard to read"})
    commit_to(project, "topic", {"b.txt": "b\n"})
    request = project.mergerequests.create(
        {"source_branch": "topic", "target_branch": "main", "title": "Topic", "description": f"Closes #{issue.iid}"}
    )
    equal(ids(request.closes_issues()), [issue.id])
    equal([each["iid"] for each in issue.closed_by()], [1])
    equal([each["iid"] for each in issue.related_merge_requests()], [1])
    equal(len(request.merge_ref()["commit_id"]), 40)
    equal(request.pipelines.list(), [])

    main = commit_to(project, "main", {"c.txt": "c\n"})
    equal(request.rebase(), {"rebase_in_progress": True})
    rebased = project.branches.get("topic").commit["id"]
    true(rebased != head, "the branch was rebased")
    becomes(lambda: project.mergerequests.get(1).sha, rebased)
    matches(project.mergerequests.get(1, include_rebase_in_progress=True), rebase_in_progress=False, merge_error=None)
    refused(gitlab.GitlabMRClosedError, 409, lambda: request.merge(sha=head), f"SHA does not match HEAD of source branch: {rebased}")
    request.merge(
        merge_commit_message="Together", should_remove_source_branch=True, squash=True, squash_commit_message="As one", sha=rebased
    )
    matches(request, state="merged", should_remove_source_branch=True)
    equal(request.merged_by["id"], 1)
    joined = project.commits.get("main")
    matches(joined, id=request.merge_commit_sha, message="Together", parent_ids=[main, request.squash_commit_sha])
    matches(project.commits.get(request.squash_commit_sha), message="As one", parent_ids=[main])
    equal([each["iid"] for each in joined.merge_requests()], [1])
    refused(gitlab.GitlabMRClosedError, 405, request.merge)
    refused(gitlab.GitlabMRRebaseError, 409, request.rebase, "409 Conflict")
    becomes(lambda: project.issues.get(issue.iid).state, "closed")
    becomes(lambda: [each.name for each in project.branches.list()], ["main"])

    commit_to(project, "later", {"d.txt": "d\n"}, start_branch="main")
    later = project.mergerequests.create({"source_branch": "later", "target_branch": "main", "title": "Draft: Later"})
    later.merge(merge_when_pipeline_succeeds=True)
    matches(later, state="opened", merge_when_pipeline_succeeds=True)
    later.cancel_merge_when_pipeline_succeeds()
    matches(project.mergerequests.get(2), merge_when_pipeline_succeeds=False, merge_user=None)
    later.merge(merge_when_pipeline_succeeds=True)
    later.title = "Later"
    later.save()
    becomes(lambda: project.mergerequests.get(2).state, "merged")


def search():
    group = make_group("py-search")
    project = make_project("wombat-den", group)
    scope = gitlab.const.SearchScope
    issue = project.issues.create({"title": "A wombat is lost"})
    note = issue.notes.create({"body": "Which wombat?"})
    milestone = project.milestones.create({"title": "wombat week"})
    user, _ = make_user("py-wombat")
    project.members.create({"user_id": user.id, "access_level": 10})
    project.files.create({"file_path": "wombat.txt", "branch": "main", "content": "one wombat", "commit_message": "Add a wombat"})
    project.wikis.create({"title": "Home", "content": "The wombat page"})
    snippet = root.snippets.create({"title": "wombat", "file_name": "a", "content": "a"})
    found = {
        scope.PROJECTS: [project.id],
        scope.ISSUES: [issue.id],
        scope.MILESTONES: [milestone.id],
        scope.MERGE_REQUESTS: [],
        scope.USERS: [user.id],
        scope.GLOBAL_SNIPPET_TITLES: [snippet.id],
    }
    for name, expected in found.items():
        equal([each["id"] for each in root.search(name, "wombat")], expected)
        if name not in (scope.GLOBAL_SNIPPET_TITLES, scope.USERS):
            equal([each["id"] for each in group.search(name, "wombat")], expected)
        if name not in (scope.GLOBAL_SNIPPET_TITLES, scope.PROJECTS):
            equal([each["id"] for each in project.search(name, "wombat")], expected)
    equal([each["id"] for each in project.search(scope.PROJECT_NOTES, "wombat")], [note.id])
    equal([each["path"] for each in project.search(scope.BLOBS, "wombat")], ["wombat.txt"])
    equal([each["title"] for each in project.search(scope.COMMITS, "wombat")], ["Add a wombat"])
    equal([each["path"] for each in project.search(scope.WIKI_BLOBS, "wombat")], ["Home.md"])
    equal(len(list(root.search(scope.ISSUES, "wombat", iterator=True, per_page=1))), 1)
    refused(gitlab.GitlabSearchError, 400, lambda: root.search(scope.BLOBS, "wombat"), "advanced search")
    refused(gitlab.GitlabSearchError, 400, lambda: root.search("nothing", "wombat"), "scope does not have a valid value")


def variables():
    group = make_group("py-variables")
    project = make_project("variables", group)
    for parent in (project, group, root):
        made = parent.variables.create({"key": "STONE", "value": "granite"})
        matches(made, key="STONE", value="granite", variable_type="env_var", protected=False, masked=False, raw=False)
        made.value = "sandstone"
        made.protected = True
        made.save()
        matches(parent.variables.get("STONE"), value="sandstone", protected=True)
        equal([each.key for each in parent.variables.list(get_all=True)], ["STONE"])
        taken = {"key": "STONE", "value": "again"}
        refused(gitlab.GitlabCreateError, 400, lambda parent=parent: parent.variables.create(taken), "already been taken")
    hidden = project.variables.create({"key": "SECRET", "value": "granite-1", "masked_and_hidden": True})
    matches(hidden, value=None, masked=True, hidden=True)
    project.variables.create({"key": "STONE", "value": "slate", "environment_scope": "review/*"})
    refused(gitlab.GitlabGetError, 409, lambda: project.variables.get("STONE"), "filter[environment_scope]")
    review = {"environment_scope": "review/*"}
    matches(project.variables.get("STONE", filter=review), value="slate", environment_scope="review/*")
    project.variables.update("STONE", {"value": "marble", "filter": review})
    matches(project.variables.get("STONE", filter=review), value="marble")
    project.variables.delete("STONE", filter=review)
    project.variables.get("STONE").delete()
    refused(gitlab.GitlabGetError, 404, lambda: project.variables.get("STONE"), "404 Variable Not Found")


def triggers():
    project = make_project("triggered", make_group("py-triggers"))
    made = project.triggers.create({"description": "from the quarry"})
    matches(made, description="from the quarry", last_used=None)
    true(len(made.token) > 20, "its owner sees the whole token")
    made.description = "from the wall"
    made.save()
    matches(project.triggers.get(made.id), description="from the wall", token=made.token)
    made.delete()
    equal(project.triggers.list(get_all=True), [])


def schedules():
    project = make_project("nightly", make_group("py-schedules"))
    project.files.create({"file_path": ".gitlab-ci.yml", "branch": "main", "commit_message": "Build", "content": "build:\n  script: make\n"})
    made = project.pipelineschedules.create({"ref": "main", "description": "Nightly", "cron": "0 1 * * 5", "cron_timezone": "Berlin"})
    matches(made, ref="refs/heads/main", active=True, cron_timezone="Berlin")
    made.description = "Weekly"
    made.save()
    variable = made.variables.create({"key": "STONE", "value": "granite"})
    made.variables.update(variable.key, {"value": "marble"})
    shown = project.pipelineschedules.get(made.id)
    matches(shown, description="Weekly", last_pipeline=None)
    equal([each["value"] for each in shown.attributes["variables"]], ["marble"])
    made.variables.delete(variable.key)
    shown.take_ownership()
    shown.play()
    made_by = root.http_list(f"/projects/{project.id}/pipeline_schedules/{made.id}/pipelines", get_all=True)
    equal([each["source"] for each in made_by], ["schedule"])
    refused(
        gitlab.GitlabCreateError, 400,
        lambda: project.pipelineschedules.create({"ref": "main", "description": "Never", "cron": "0 0 30 2 *"}), "syntax is invalid",
    )
    made.delete()
    equal(project.pipelineschedules.list(get_all=True), [])


def runners():
    group = make_group("py-runners")
    project, other = make_project("kiln", group), make_project("borrower", group)
    made = root.http_post("/user/runners", post_data={"runner_type": "group_type", "group_id": group.id, "tag_list": "stone,lime"})
    true(made["token"].startswith("glrt-"), "a user's runner has a token of its own kind")
    equal([each.id for each in group.runners.list(type="group_type", get_all=True)], [made["id"]])
    reset = root.http_post(f"/projects/{project.id}/runners/reset_registration_token")
    runner = root.runners.create({"token": reset["token"], "description": "Kiln", "info": {"name": "kiln", "version": "1.2"}})
    root.runners.verify(runner.token)
    refused(gitlab.GitlabVerifyError, 403, lambda: root.runners.verify("glrt-nobody"), "403 Forbidden")
    refused(gitlab.GitlabCreateError, 403, lambda: root.runners.create({"token": "nobody"}), "invalid token supplied")
    shown = root.runners.get(runner.id)
    matches(shown, description="Kiln", name="kiln", status="online", run_untagged=True, paused=False, ip_address="")
    equal([each["id"] for each in shown.projects], [project.id])
    shown.tag_list = ["stone"]
    shown.run_untagged = False
    shown.save()
    matches(root.runners.get(runner.id), tag_list=["stone"], run_untagged=False)
    shown.tag_list = []
    refused(gitlab.GitlabUpdateError, 400, shown.save, "can not be empty")
    true(runner.id in [each.id for each in root.runners_all.list(tag_list="stone", get_all=True)], "all have it")
    other.runners.create({"runner_id": runner.id})
    equal([each.id for each in other.runners.list(type="project_type", get_all=True)], [runner.id])
    refused(gitlab.GitlabCreateError, 400, lambda: other.runners.create({"runner_id": runner.id}), "already been taken")
    refused(gitlab.GitlabDeleteError, 403, lambda: project.runners.delete(runner.id), "owner project")
    other.runners.delete(runner.id)
    root.runners.delete(runner.id)
    refused(gitlab.GitlabGetError, 404, lambda: root.runners.get(runner.id), "404 Runner Not Found")


PIPELINE = """
stages: [build, deploy]
build: {stage: build, script: [make], artifacts: {paths: [out]}}
deploy:
  stage: deploy
  script: [make deploy]
  when: manual
  resource_group: ground
  environment: {name: production, url: "https://example.com"}
"""


class Kiln:
    """A runner of a project, by the protocol: the client has no part of it."""

    def __init__(self, project):
        fields = {"runner_type": "project_type", "project_id": project.id}
        self.token = root.http_post("/user/runners", post_data=fields)["token"]

    def take(self):
        reply = requests.post(f"{URL}/api/v4/jobs/request", json={"token": self.token})
        equal(reply.status_code, 201)
        return reply.json()

    def end(self, job, state="success", trace=b"", archive=None):
        own = {"JOB-TOKEN": job["token"]}
        address = f"{URL}/api/v4/jobs/{job['id']}"
        place = {**own, "Content-Range": f"0-{len(trace)}"}
        equal(requests.patch(f"{address}/trace", data=trace, headers=place).status_code, 202)
        if archive is not None:
            file = {"file": ("artifacts.zip", archive)}
            equal(requests.post(f"{address}/artifacts", files=file, headers=own).status_code, 201)
        equal(requests.put(address, json={"token": job["token"], "state": state}).status_code, 200)


def make_built(path, group):
    project = make_project(path, group)
    commit_to(project, "main", {".gitlab-ci.yml": PIPELINE})
    gone_on = lambda: len(project.pipelines.list(get_all=True))
    becomes(gone_on, 1)
    (pushed,) = project.pipelines.list(get_all=True)
    pushed.delete()
    return project, Kiln(project)


def pipelines():
    project, kiln = make_built("piped", make_group("py-pipelines"))
    made = project.pipelines.create({"ref": "main", "variables": [{"key": "STONE", "value": "granite"}]})
    matches(made, source="api", status="pending", ref="main")
    equal([each.value for each in made.variables.list(get_all=True)], ["granite"])
    equal(made.bridges.list(get_all=True), [])
    files = io.BytesIO()
    with zipfile.ZipFile(files, "w") as archive:
        archive.writestr("out/a.txt", "A")
    kiln.end(kiln.take(), trace=b"It is made.\n", archive=files.getvalue())
    made.refresh()
    matches(made, status="success")
    equal(ids(project.pipelines.list(status="success", ref="main", get_all=True)), [made.id])
    equal(made.test_report.get().total_count, 0)
    equal(made.test_report_summary.get().total["count"], 0)
    equal([(each.name, each.status) for each in made.jobs.list(get_all=True)], [("deploy", "manual"), ("build", "success")])
    build = project.jobs.get(made.jobs.list(scope="success", get_all=True)[0].id)
    equal(build.trace(), b"It is made.\n")
    equal(build.artifact("out/a.txt"), b"A")
    with zipfile.ZipFile(io.BytesIO(build.artifacts())) as archive:
        equal(archive.namelist(), ["out/a.txt"])
    equal(project.artifacts.raw(ref_name="main", artifact_path="out/a.txt", job="build"), b"A")
    true(project.artifacts.download(ref_name="main", job="build").startswith(b"PK"), "it is a zip file")
    build.keep_artifacts()
    build.delete_artifacts()
    refused(gitlab.GitlabGetError, 404, build.artifacts)
    build.erase()
    equal(project.jobs.get(build.id).trace(), b"")
    equal(build.retry()["status"], "pending")
    kiln.end(kiln.take(), "failed")
    made.refresh()
    matches(made, status="failed")
    matches(project.jobs.list(scope="failed", get_all=True)[0], failure_reason="unknown_failure")
    made.retry()
    project.jobs.list(scope="pending", get_all=True)[0].cancel()
    made.refresh()
    matches(made, status="canceled")
    made.cancel()
    made.delete()
    refused(gitlab.GitlabGetError, 404, lambda: project.pipelines.get(made.id))
    token = project.triggers.create({"description": "from the quarry"}).token
    started = project.trigger_pipeline("main", token, {"STONE": "lime"})
    matches(started, source="trigger")


def deploying():
    project, kiln = make_built("deployed", make_group("py-deploying"))
    made = project.pipelines.create({"ref": "main"})
    kiln.end(kiln.take())
    manual = made.jobs.list(scope="manual", get_all=True)[0]
    project.jobs.get(manual.id, lazy=True).play()
    kiln.end(kiln.take())
    (production,) = project.environments.list(get_all=True)
    matches(production, name="production", state="available", external_url="https://example.com")
    (deployment,) = project.deployments.list(environment="production", status="success", get_all=True)
    matches(deployment, status="success", sha=made.sha)
    own = project.deployments.create(
        {"environment": "staging", "sha": made.sha, "ref": "main", "tag": False, "status": "running"}
    )
    own.status = "success"
    own.save()
    matches(project.deployments.get(own.id), status="success")
    production.external_url = "https://example.org"
    production.save()
    production.stop()
    production.delete()
    equal([each.name for each in project.environments.list(get_all=True)], ["staging"])
    made_by_hand = project.environments.create({"name": "review/one", "tier": "development"})
    matches(project.environments.get(made_by_hand.id), slug=made_by_hand.slug, tier="development")


def linting():
    project, _ = make_built("linted", make_group("py-linting"))
    matches(project.ci_lint.get(dry_run=True), valid=True, errors=[])
    wrong = project.ci_lint.create({"content": "a: {script: make, sript: 1}"})
    matches(wrong, valid=False, errors=["jobs:a config contains unknown keys: sript (line 1, column 19)"])
    project.ci_lint.validate({"content": "a: {script: make}"})


def releases():
    group = make_group("py-releases")
    project = make_project("released", group)
    file = {"file_path": "a.txt", "branch": "main", "content": "a", "commit_message": "Begin"}
    project.files.create(file)
    stone = project.milestones.create({"title": "Stone"})
    link = {"name": "Program", "url": "https://example.com/program", "filepath": "/bin/program", "link_type": "package"}
    fields = {"tag_name": "v1/a", "ref": "main", "name": "First", "description": "# One", "milestones": ["Stone"]}
    made = project.releases.create({**fields, "assets": {"links": [link]}})
    matches(made, tag_name="v1/a", name="First", upcoming_release=False)
    equal([each["id"] for each in made.milestones], [stone.id])
    equal(project.tags.get("v1/a").release, {"tag_name": "v1/a", "description": "# One"})
    refused(gitlab.GitlabCreateError, 409, lambda: project.releases.create(fields), "Release already exists")
    missing = {"tag_name": "v2", "description": "Two"}
    refused(gitlab.GitlabCreateError, 422, lambda: project.releases.create(missing), "Ref is not specified")
    release = project.releases.get("v1/a")
    release.description = "# Two"
    release.save()
    matches(project.releases.get("v1/a"), description="# Two")
    (program,) = release.links.list(get_all=True)
    matches(program, name="Program", link_type="package")
    true(program.direct_asset_url.endswith("/-/releases/v1%2Fa/downloads/bin/program"), "it is below the release")
    token = {"PRIVATE-TOKEN": root.private_token}
    led = requests.get(program.direct_asset_url, headers=token, allow_redirects=False)
    equal((led.status_code, led.headers["Location"]), (302, "https://example.com/program"))
    latest = f"{URL}/api/v4/projects/{project.id}/releases/permalink/latest"
    equal(requests.get(latest, headers=token).json()["tag_name"], "v1/a")
    evidence = release.evidences[0]
    document = requests.get(evidence["filepath"], headers=token)
    equal(hashlib.sha256(document.content).hexdigest(), evidence["sha"])
    source = next(each["url"] for each in release.assets["sources"] if each["format"] == "zip")
    true(source.endswith("/-/archive/v1%2Fa/released-v1-a.zip"), "the archive has the name of the project")
    other = release.links.create({"name": "Other", "url": "https://example.com/other"})
    other.name = "Another"
    other.save()
    taken = {"name": "Another", "url": "https://example.com/third"}
    refused(gitlab.GitlabCreateError, 400, lambda: release.links.create(taken), "already been taken")
    other.delete()
    equal([each["tag_name"] for each in root.http_get(f"/groups/{group.id}/releases")], ["v1/a"])
    project.releases.delete("v1/a")
    refused(gitlab.GitlabGetError, 404, lambda: project.releases.get("v1/a"), "404 Not found")
    project.tags.get("v1/a")


def push_image(path, *tags):
    """An image of one layer, as programs push it."""
    where = {"service": "container_registry", "scope": f"repository:{path}:pull,push"}
    given = requests.get(f"{URL}/jwt/auth", params=where, auth=("root", root.private_token)).json()["token"]
    headers = {"Authorization": f"Bearer {given}"}
    parts = []
    for kind, blob in (("config.v1+json", b"{}"), ("layer.v1.tar", path.encode())):
        digest = f"sha256:{hashlib.sha256(blob).hexdigest()}"
        sent = requests.post(f"{URL}/v2/{path}/blobs/uploads/?digest={digest}", data=blob, headers=headers)
        equal(sent.status_code, 201)
        parts.append({"mediaType": f"application/vnd.oci.image.{kind}", "digest": digest, "size": len(blob)})
    kind = "application/vnd.oci.image.manifest.v1+json"
    manifest = {"schemaVersion": 2, "mediaType": kind, "config": parts[0], "layers": parts[1:]}
    for tag in tags:
        put = requests.put(f"{URL}/v2/{path}/manifests/{tag}", json=manifest, headers={**headers, "Content-Type": kind})
        equal(put.status_code, 201)


def images():
    group = make_group("py-images")
    project = make_project("stones", group)
    path = project.path_with_namespace
    push_image(f"{path}/web", "v1", "v2", "v3", "latest")
    (repository,) = project.repositories.list(get_all=True, tags_count=True)
    matches(repository, name="web", path=f"{path}/web", tags_count=4, status=None)
    equal([each.id for each in group.registry_repositories.list(get_all=True)], [repository.id])
    alone = root.registry_repositories.get(repository.id, size=True)
    matches(alone, project_id=project.id, size=2 + len(f"{path}/web"))
    equal([each.name for each in repository.tags.list(get_all=True, per_page=3)], ["latest", "v1", "v2", "v3"])
    by_name = {"pagination": "keyset", "order_by": "name", "sort": "desc", "per_page": 3}
    equal([each.name for each in repository.tags.list(iterator=True, **by_name)], ["v3", "v2", "v1", "latest"])
    tag = repository.tags.get("v1")
    matches(tag, path=f"{path}/web:v1", total_size=len(f"{path}/web"), short_revision="44136fa35")
    rules = f"/projects/{project.id}/registry/protection/tag/rules"
    levels = {"minimum_access_level_for_push": "admin", "minimum_access_level_for_delete": "admin"}
    rule = root.http_post(rules, post_data={"tag_name_pattern": "^v3$", **levels})
    matches(rule, tag_name_pattern="^v3$", minimum_access_level_for_delete="admin")
    repository.tags.delete("v2")
    refused(gitlab.GitlabGetError, 404, lambda: repository.tags.get("v2"), "404 Tag Not Found")
    repository.tags.delete_in_bulk(name_regex_delete="v.*", keep_n=1)
    becomes(lambda: [each.name for each in repository.tags.list(get_all=True)], ["latest", "v3"])
    again = "at most once an hour"
    refused(gitlab.GitlabDeleteError, 400, lambda: repository.tags.delete_in_bulk(name_regex_delete=".*"), again)
    project.container_expiration_policy_attributes = {"enabled": True, "keep_n": 5, "name_regex_delete": "v.*"}
    project.save()
    policy = root.projects.get(project.id).container_expiration_policy
    matches(policy, enabled=True, keep_n=5, name_regex="v.*", cadence="1d")
    repository.delete()
    becomes(lambda: project.repositories.list(get_all=True), [])


def raw_http():
    """What the client leaves to its HTTP library."""
    head = root.http_head("/projects")
    true("X-Total" in head, "HEAD has the headers of GET")
    first = requests.get(f"{URL}/api/v4/version", headers={"PRIVATE-TOKEN": root.private_token})
    again = {"PRIVATE-TOKEN": root.private_token, "If-None-Match": first.headers["ETag"]}
    equal(requests.get(f"{URL}/api/v4/version", headers=again).status_code, 304)
    refused(gitlab.GitlabHttpError, 404, lambda: root.http_get("/no-such-thing"), "404 Not Found")


STORIES = [
    users, own_things, sudo, groups, projects, lists, members, waiting, tokens, instance, repositories, snippets, wikis, moves,
    labels, milestones, issues, merge_requests, review, merging, conversation, epics, todos, feed, notification_settings,
    uploads, search, variables, triggers, schedules, runners, pipelines, deploying, linting,
    releases, images, raw_http,
]

for story in STORIES:
    try:
        story()
    except (Difference, gitlab.GitlabError, requests.RequestException, AttributeError, TypeError) as error:
        trace = error.__traceback__
        while trace.tb_next is not None and trace.tb_next.tb_frame.f_code.co_name in (story.__name__, "<lambda>"):
            trace = trace.tb_next
        sys.exit(f"{story.__name__}, line {trace.tb_lineno}: {type(error).__name__}: {error}")
    print(f"{story.__name__}: as it should be", flush=True)
