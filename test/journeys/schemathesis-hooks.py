"""How the fuzzer finds its way in the world that the journey made: which objects there are, and which must stay.

Read by schemathesis (SCHEMATHESIS_HOOKS); ASHLAR_FUZZ_WORLD names the file that describes the world.
"""
import json
import os
import random
import re
import threading

import schemathesis
from hypothesis import strategies

with open(os.environ["ASHLAR_FUZZ_WORLD"], encoding="utf-8") as file:
    WORLD = json.load(file)
with open(os.environ["ASHLAR_FUZZ_DOCUMENT"], encoding="utf-8") as file:
    DOCUMENT = json.load(file)
WHO = WORLD["callers"][os.environ["ASHLAR_FUZZ_CALLER"]]

# What ends or moves an object is done to one of the spare ones, or the rest of the run would meet nothing but 404.
ENDING = re.compile(
    r"^(PUT|DELETE) /(projects|groups)/\{id\}$"
    r"|^\w+ /(projects|groups)/\{id\}/(archive|unarchive|restore|transfer|share.*|fork)$"
    r"|^(POST|PUT|PATCH|DELETE) /users/"
)
SUBJECT = re.compile(r"^/(projects|groups|users)/\{(\w+)\}")
KEPT = {str(each) for each in WORLD["kept"]}
chances = {}
lock = threading.Lock()


def chance_of(operation):
    """The same for an operation whenever it comes."""
    with lock:
        return chances.setdefault(operation.label, random.Random(operation.label))


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Of twenty paths nineteen lead to something."""
    operation = context.operation
    real = WORLD["paths"].get(operation.path)
    if not path_parameters or real is None:
        return path_parameters
    chance = chance_of(operation)
    method = operation.method.upper()
    found = SUBJECT.match(operation.path)
    kind, subject = (found[1], found[2]) if found else (None, None)
    chosen = dict(path_parameters)
    if chance.random() < 0.95:
        for name, values in real.items():
            # The first of each kind stays.
            nth = chance.randint(2, WORLD["count"]) if method == "DELETE" else chance.choice([1, 1, 1, chance.randint(1, WORLD["count"])])
            chosen[name] = values[0] if name == subject else values[(nth - 1) % len(values)]
        if subject and ENDING.match(f"{method} {operation.path}"):
            chosen[subject] = chance.choice(WORLD["spare"][kind])
    if kind == "users" and method != "GET" and str(chosen.get(subject)) in KEPT:
        chosen[subject] = chance.choice(WORLD["spare"]["users"])
    if "/personal_access_tokens/{id}" in operation.path and method != "GET":
        chosen["id"] = chance.choice(WORLD["spare"]["tokens"])
    return chosen


def follow(node):
    while "$ref" in node:
        at = DOCUMENT
        for key in node["$ref"][2:].split("/"):
            at = at[key]
        node = at
    return node


def declared(value, node):
    """Without properties that no schema names: they are not looked at, and would only be refused for numbers past 2^53."""
    node = follow(node)
    if isinstance(value, list) and "items" in node:
        return [declared(each, node["items"]) for each in value]
    names = node.get("properties")
    if not isinstance(value, dict) or names is None:
        return value
    return {name: declared(each, names[name]) for name, each in value.items() if name in names}


@schemathesis.hook
def map_body(context, body):
    operation = DOCUMENT["paths"][context.operation.path][context.operation.method.lower()]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        return declared(body, media["schema"]) if isinstance(body, dict) else body
    return body


@schemathesis.hook
def before_call(context, case, kwargs):
    """What ends the token it comes with gets one of its own."""
    ends = "/self" in case.path and case.operation.method.upper() != "GET"
    with lock:
        case.headers["PRIVATE-TOKEN"] = WHO["spare"].pop() if ends and WHO["spare"] else WHO["token"]


for name, values in WORLD["formats"].items():
    schemathesis.openapi.format(name, strategies.sampled_from(values))

# Of the types of pictures that the document names, the smallest file there is.
schemathesis.openapi.media_type("image/gif", strategies.just(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
