"""What schemathesis has to know of Holdoff: ids that come back, and which valid data may be refused all the same."""

import random
import re

import schemathesis
from schemathesis.generation import GenerationMode

NODE_ID = re.compile(r"^(?:i-(?:[0-9a-f]{8}|[0-9a-f]{17})|mi-[0-9a-f]{17})$")
NAME = re.compile(r"^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$")
NODES = ["i-0000000000000000%x" % n for n in range(4)] + ["mi-00000000000000000"]
VMS = ["web", "db", "cache-1", "a.b_c"]
GROUPS = ["default", "web", "canary"]


def familiar(value, pattern, known):
    """A valid id becomes, most of the time, one of a few: calls must meet what other calls made."""
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        return value
    # Chosen by the value itself, so that a run can be repeated and a failure shrinks.
    choice = random.Random(value)
    return choice.choice(known) if choice.random() < 0.9 else value


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    parameters = dict(path_parameters or {})
    for name, pattern, known in (("nodeId", NODE_ID, NODES), ("vmId", NAME, VMS), ("group", NAME, GROUPS)):
        if name in parameters:
            parameters[name] = familiar(parameters[name], pattern, known)
    return parameters


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    body = dict(body)
    if "hostId" in body:
        body["hostId"] = familiar(body["hostId"], NODE_ID, NODES)
    if "group" in body:
        body["group"] = familiar(body["group"], NAME, GROUPS)
    return body


# Messages of rules that JSON Schema cannot say: between fields, of the length that a duration has, of what a cron means.
BEYOND_SCHEMA = (
    "must be shorter than",
    "needs hosts",
    "needs a limit",
    "must have names of their own",
    "must name each",
    "must not name",
    "must be from 10m to 7d",
    "must be from 5m to 7d",
    "must be at most 7d",
    "must be after from",
    "must be an http or https URL",
    "must be a port or host:port",
    "must be the name of an IANA time zone",
    "must be an RFC 3339 instant",
    "must have five fields",
    "must be made of numbers",
    "is not a cron",
    "never comes within five years",
    "must not contain the character NUL",
)


@schemathesis.check
def valid_data_is_taken(ctx, response, case):
    """Like positive_data_acceptance, but for what JSON Schema cannot say: a cursor is only good if a page gave it, and
    some fields must agree with others."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE or response.status_code != 400:
        return None
    problem = response.json()
    if problem.get("code") == "InvalidCursor":
        return None
    said = [error.get("message", "") for error in problem.get("errors", [])]
    if said and all(any(rule in message for rule in BEYOND_SCHEMA) for message in said):
        return None
    raise AssertionError(f"valid data was refused: {problem.get('detail')}")
