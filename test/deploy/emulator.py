"""ministack, with the two resource types of a Holdoff deployment that it refuses.

It has no metric math and no SSM documents, and one resource that it cannot make rolls the whole stack back. So that the
templates are deployed as they are, an alarm of several metrics is registered under the first of them (nothing here looks
at alarms), and a document is written to a file, where the test takes it for its own stand-in of Run Command.
"""

import json
import os
import pathlib

from ministack.app import main
from ministack.services.cloudformation import provisioners

DOCUMENTS = pathlib.Path(os.environ["HOLDOFF_EMULATOR_DOCUMENTS"])

register_alarm = provisioners._cw_metric_alarm_record


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


provisioners._cw_metric_alarm_record = register_alarm_of_many
provisioners._RESOURCE_HANDLERS["AWS::SSM::Document"] = {
    "create": create_document,
    "update": update_document,
    "delete": delete_document,
}
main()
