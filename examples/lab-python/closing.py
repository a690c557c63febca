def close_issues(client, project, label):
    """Closes the open issues with a label; returns their numbers."""
    issues = client.projects.get(project).issues.list(state="opened", labels=[label], get_all=True)
    for issue in issues:
        issue.state_event = "close"
        issue.save()
    return [issue.iid for issue in issues]
