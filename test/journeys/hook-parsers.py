"""Reads requests of webhooks, a JSON list of [header, body], by pydantic-gitlab-webhooks: what each became, or why none."""

import json
import sys

from pydantic import ValidationError
from pydantic_gitlab_webhooks import validate_event_body_dict, validate_event_header_and_body_dict

# Headers for which it has models, but no names: it knows their bodies alone.
BY_BODY = ("Confidential Issue Hook", "Confidential Note Hook")


def read(header, body):
    try:
        if header in BY_BODY:
            event = validate_event_body_dict(body)
        else:
            event = validate_event_header_and_body_dict(header, body)
    except ValidationError as error:
        return {"refused": sorted({f"{''.join(map(str, each['loc'][-1:]))}: {each['type']}" for each in error.errors()})}
    except TypeError as error:
        # Of its own: it parses a null as a time.
        return {"refused": [str(error)]}
    return {"model": type(event).__name__, "read": event.model_dump(mode="json")}


print(json.dumps([read(header, body) for header, body in json.load(sys.stdin)]))
