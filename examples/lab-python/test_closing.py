import gitlab
import pytest

from closing import close_issues


def states(client):
    issues = client.projects.get("root/demo").issues.list(get_all=True)
    return {issue.title: issue.state for issue in issues}


def test_closes_what_has_the_label(client):
    assert close_issues(client, "root/demo", "stale") == [1]
    assert states(client) == {"Old": "closed", "New": "opened"}


def test_tells_of_a_refusal(client, lab):
    lab("POST", "/faults", {"method": "PUT", "route": "/projects/:id/issues/:issue_iid", "status": 503})
    with pytest.raises(gitlab.GitlabUpdateError, match="503"):
        close_issues(client, "root/demo", "stale")
    assert states(client) == {"Old": "opened", "New": "opened"}
