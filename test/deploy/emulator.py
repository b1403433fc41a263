"""ministack with authentication on, and with what a Holdoff deployment needs and it does not have.

- It refuses alarms of several metrics and SSM documents, and one resource that it cannot make rolls the whole stack back.
  So that the templates are deployed as they are, such an alarm is registered under its first metric (nothing here looks at
  alarms), and a document is written to a file, where the test takes it for its own stand-in of Run Command.
- It makes a global table without a name of its own anew at each change; here it changes it in place, as DynamoDB does.
- Its loopback counts as TLS: the bootstrap's bucket and the queues of the stack refuse plain HTTP.
- EC2 gives an instance credentials whose session is named by its id; STS gives such a session to nobody, because the trust
  policy names only services. The test names the instances, and their sessions are known from the start.
- It asks IAM about a schedule in the group `default`, whatever group the request names; here it asks about that group.
- The stand-in of Run Command may put the events that SSM puts, which no account may.

Whatever a policy did not allow is said as `DENIED <action> <resource> <principal>`.
"""

import functools
import json
import os
import pathlib
import sys

from ministack import app
from ministack.core import iam_actions, iam_evaluator
from ministack.services import eventbridge, sts
from ministack.services.cloudformation import provisioners

DOCUMENTS = pathlib.Path(os.environ["HOLDOFF_EMULATOR_DOCUMENTS"])
CALLERS = pathlib.Path(os.environ["HOLDOFF_EMULATOR_CALLERS"])

register_alarm = provisioners._cw_metric_alarm_record
pin_request_origin = app.pin_request_origin
enforce = iam_evaluator.enforce
extract_resource_arn = iam_actions.extract_resource_arn
update_table = provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::GlobalTable"]["update"]


def register_alarm_of_many(name, props):
    """An alarm; one of several metrics stands under the first that is a metric and no expression."""
    metrics = [metric["MetricStat"] for metric in props.get("Metrics") or [] if "MetricStat" in metric]
    if not metrics:
        return register_alarm(name, props)
    first = metrics[0]["Metric"]
    rest = {key: value for key, value in props.items() if key != "Metrics"}
    return register_alarm(name, {**rest, "Namespace": first["Namespace"], "MetricName": first["MetricName"]})


def write_document(name, props):
    """Keeps what the template says of a document; its name is what Ref answers."""
    if props.get("DocumentType") != "Command" or not isinstance(props.get("Content"), dict):
        raise ValueError(f"{name}: not a Command document whose content is an object")
    (DOCUMENTS / f"{name}.json").write_text(json.dumps(props["Content"]))
    return name, {}


def create_document(_logical_id, props, _stack):
    if (DOCUMENTS / f"{props['Name']}.json").exists():
        raise ValueError(f"DocumentAlreadyExists: {props['Name']}")
    return write_document(props["Name"], props)


def update_document(physical_id, _old, props, _stack):
    if props["Name"] != physical_id or props.get("UpdateMethod") != "NewVersion":
        raise ValueError(f"{physical_id}: a document is updated in place only with the update method NewVersion")
    return write_document(physical_id, props)


def delete_document(physical_id, _props):
    (DOCUMENTS / f"{physical_id}.json").unlink(missing_ok=True)


def resource_with_group(service, method, path, headers, body, *more):
    """What a request is about; a schedule with the group that its body names."""
    resource = extract_resource_arn(service, method, path, headers, body, *more)
    if service == "scheduler" and method in ("POST", "PUT") and ":schedule/default/" in resource:
        group = json.loads(body or b"{}").get("GroupName", "default")
        return resource.replace(":schedule/default/", f":schedule/{group}/")
    return resource


def update_table_in_place(physical_id, old, new, stack):
    """Changes a table whose name CloudFormation chose: the name is the one it has."""
    name = {"TableName": physical_id}
    return update_table(physical_id, {**old, **name}, {**new, **name}, stack)


def enforce_aloud(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
    """What IAM says, with a line for each refusal, so that a missing permission is found although code retries."""
    refused = enforce(access_key_id, iam_action, service, region, resource_arn, service_context)
    if refused is not None:
        who = getattr(refused, "principal_arn", "") or access_key_id
        print(f"DENIED {iam_action} {resource_arn} {who}", file=sys.stderr, flush=True)
    return refused


provisioners._cw_metric_alarm_record = register_alarm_of_many
provisioners._RESOURCE_HANDLERS["AWS::SSM::Document"] = {
    "create": create_document,
    "update": update_document,
    "delete": delete_document,
}
provisioners._RESOURCE_HANDLERS["AWS::DynamoDB::GlobalTable"]["update"] = update_table_in_place
app.pin_request_origin = lambda source_ip, _secure: pin_request_origin(source_ip, True)
iam_evaluator.enforce = enforce_aloud
iam_actions.extract_resource_arn = resource_with_group
eventbridge._put_events = functools.partial(eventbridge._put_events, allow_aws_source=True)
for caller in json.loads(CALLERS.read_text()):
    if "sessionToken" in caller:
        session = {
            "Arn": caller["userArn"],
            "UserId": caller["userId"],
            "SecretAccessKey": caller["secretAccessKey"],
            "SessionToken": caller["sessionToken"],
        }
        sts.register_session(caller["accessKeyId"], session)
app.main()
