import { expect, test } from 'vitest';
import { parseMachineEvent } from '../../functions/messages.ts';

const ec2 = (detail: unknown, time = '2026-01-01T00:00:07Z'): object => ({
  version: '0',
  id: 'ee376907-2647-4179-9203-343cfb3017a4',
  'detail-type': 'EC2 Instance State-change Notification',
  source: 'aws.ec2',
  account: '123456789012',
  time,
  detail,
});
const call = (detail: object): object => ({
  'detail-type': 'AWS API Call via CloudTrail',
  source: 'aws.ssm',
  time: '2026-01-01T00:00:07Z',
  detail: { eventSource: 'ssm.amazonaws.com', eventName: 'DeregisterManagedInstance', ...detail },
});
const at = Date.UTC(2026, 0, 1, 0, 0, 7);
const nodeId = 'i-0000000000000000a';
const hybrid = 'mi-0000000000000000a';

test.each(['stopped', 'running', 'terminated'])('EC2 says that a machine is %s', (state) => {
  expect(parseMachineEvent(ec2({ 'instance-id': nodeId, state }))).toEqual({ nodeId, kind: state, at });
});

test('CloudTrail says that a machine was deregistered', () => {
  const event = call({ requestParameters: { instanceId: hybrid }, responseElements: null });
  expect(parseMachineEvent(event)).toEqual({ nodeId: hybrid, kind: 'deregistered', at });
});

test.each([
  ['a state in between', ec2({ 'instance-id': nodeId, state: 'stopping' })],
  ['an id that is no node', ec2({ 'instance-id': 'i-nonsense', state: 'stopped' })],
  ['no time', ec2({ 'instance-id': nodeId, state: 'stopped' }, 'yesterday')],
  ['a call that was refused', call({ requestParameters: { instanceId: hybrid }, errorCode: 'InvalidInstanceId' })],
  ['a call without parameters', call({ requestParameters: null })],
  ['another call', call({ eventName: 'DescribeInstanceInformation', requestParameters: { instanceId: hybrid } })],
  ['no event at all', 'stopped'],
])('passed over: %s', (_what, event) => {
  expect(parseMachineEvent(event)).toBeNull();
});
