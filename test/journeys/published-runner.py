"""The client library gitlab-runner-api, as a program that runs jobs uses it; the project is in settings.json of the folder."""
import json

import requests
from gitlab_runner_api import AuthException, Job, JobCancelledException, Runner, failure_reasons

with open("settings.json", encoding="utf-8") as settings_file:
    settings = json.load(settings_file)


def refused(call, error):
    try:
        call()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")


def cancel(job):
    path = f"{settings['url']}/api/v4/projects/{settings['project']}/jobs/{job.id}/cancel"
    requests.post(path, headers={"PRIVATE-TOKEN": settings["root"]}, timeout=60).raise_for_status()


refused(lambda: Runner.register(settings["url"], "wrong"), AuthException)
runner = Runner.register(
    settings["url"],
    settings["token"],
    description="A library",
    active=True,
    locked=True,
    run_untagged=False,
    tags=["library", "python"],
    maximum_timeout=1200,
    name="library",
    version="1.0.4",
    revision="0",
    platform="linux",
    architecture="amd64",
    executor="custom",
    access_level="not_protected",
)
runner.dump("runner.json")
runner = Runner.load("runner.json")

good = runner.request_job()
assert (good.name, good.stage, good.script, good.after_script) == ("good", "build", ["make"], ["make clean"]), good
assert good.is_branch and good.ref == "main" and good.username == "root" and good.project_path == "root/library", good
assert good.job_url.endswith(f"/root/library/-/jobs/{good.id}"), good.job_url
assert len(good.commit_sha) == 40 and good.commit_message.strip() == "Change", good.commit_message
good.auth()
good.log += "It begins.\n"
# As a process that was started anew.
good = Job.loads(good.dumps())
# It counts characters where the protocol counts bytes: nothing but ASCII.
good.log += "It goes on.\n"
good.log += "It is done.\n"
good.set_success()

bad = runner.request_job()
bad.log += "It fails.\n"
bad.set_failed(failure_reasons.ScriptFailure())

long = runner.request_job()
long.log += "It takes long.\n"
cancel(long)
refused(long.auth, JobCancelledException)


def write():
    long.log += "It is not known yet.\n"


refused(write, JobCancelledException)
refused(long.set_success, JobCancelledException)
assert runner.request_job() is None
