import json
import os
import shlex
import subprocess
import urllib.request

import gitlab
import pytest


@pytest.fixture(scope="session")
def instance():
    command = shlex.split(os.environ.get("ASHLAR_COMMAND", "npx ashlar lab"))
    seed = os.path.join(os.path.dirname(__file__), "..", "demo.yml")
    # At its end, `with` closes the lab's standard input, and waits for it.
    with subprocess.Popen([*command, "--seed", seed], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("the lab did not start: its errors are below")
        yield json.loads(line)


@pytest.fixture
def lab(instance):
    """Asks the lab's own routes, from the beginning of the seed on."""

    def ask(method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        urllib.request.urlopen(urllib.request.Request(f"{instance['url']}/-/lab{path}", data, method=method)).close()

    ask("POST", "/reset")
    return ask


@pytest.fixture
def client(instance, lab):
    return gitlab.Gitlab(instance["url"], private_token=instance["token"])
