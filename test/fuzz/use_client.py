"""What somebody writes with the client that openapi-python-client makes of the document."""

import sys

from holdoff import Client
from holdoff.api.fleet import get_summary
from holdoff.api.groups import get_group, put_group
from holdoff.api.vms import get_vm, put_vm, start_vm, stop_vm
from holdoff.models import EmptyBody, GroupBody, StopBody, VmAnswer, VmBody
from holdoff.models.problem import Problem

client = Client(base_url=sys.argv[1])
body = VmBody.from_dict(
    {
        "hostId": "i-0000000000000000a",
        "runStrategy": "Manual",
        "launch": {"type": "libvirt", "domain": "generated"},
    }
)
declared = put_vm.sync(client=client, vm_id="generated", body=body)
assert isinstance(declared, VmAnswer), declared
assert declared.vm_id == "generated" and declared.printable_status == "Stopped", declared
started = start_vm.sync(client=client, vm_id="generated", body=EmptyBody())
assert isinstance(started, VmAnswer) and started.power.on, started
stopped = stop_vm.sync(client=client, vm_id="generated", body=StopBody(grace_period="5s"))
assert isinstance(stopped, VmAnswer) and not stopped.power.on, stopped
missing = get_vm.sync(client=client, vm_id="missing")
assert isinstance(missing, Problem) and missing.code == "VmNotFound", missing
group = put_group.sync(client=client, group="generated", body=GroupBody(max_concurrent_updates=3))
assert group is not None and group.limit == 3, group
assert get_group.sync(client=client, group="generated").declared
assert get_summary.sync(client=client).vms.total >= 1
print("the generated Python client works")
