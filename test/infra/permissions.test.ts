import { readdirSync, readFileSync } from 'node:fs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { describe, expect, test } from 'vitest';
import { deployed } from './deployed.ts';
import { lineOf, permissionRows } from './permission-rows.ts';

const page = readFileSync(new URL('../../docs/permissions.md', import.meta.url), 'utf8');
/** The lines of the written tables: each begins with a quoted principal. */
const written = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.trim());

describe('docs/permissions.md', { timeout: 120_000 }, () => {
  const { controlPlane, agent } = deployed();

  test('no action has a wildcard, and one resource is everything: where IAM knows none', () => {
    const rows = [controlPlane, agent].flatMap(permissionRows);
    expect(rows.filter(({ action }) => action.includes('*'))).toEqual([]);
    // Listing managed nodes has no resource in IAM; which alarms are read is said by policies that are put later.
    const everything = { who: '<Sweep/Handler/Role>', resource: '*', condition: '' };
    expect(rows.filter(({ resource }) => resource === '*')).toEqual([
      { ...everything, action: 'ssm:DescribeInstanceInformation' },
      { ...everything, action: 'cloudwatch:DescribeAlarms' },
    ]);
  });
});

test('no handler may do what no code of the handlers does', { timeout: 120_000 }, () => {
  const folder = new URL('../../functions/', import.meta.url);
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
  const granted = permissionRows(deployed().controlPlane)
    .filter(({ who }) => /^<\w+\/\w+\/Role>$/.test(who))
    .map(({ action }) => action)
    // Lambda itself reads the queues, hands over failures and writes the log; PassRole belongs to CreateSchedule.
    .filter((action) => !/^(?:logs|iam):|^sqs:(?!SendMessage)/.test(action));
  expect(granted).toContain('dynamodb:UpdateItem');
  const unused = [...new Set(granted)].filter((action) => !code.includes(`new ${action.split(':')[1]}Command(`));
  expect(unused).toEqual([]);
});

test('a permission that nobody wrote down is found', { timeout: 120_000 }, () => {
  const { controlPlane } = deployed();
  controlPlane.parts.events.log.role.addToPrincipalPolicy(
    new PolicyStatement({ actions: ['dynamodb:Scan'], resources: [controlPlane.parts.table.table.tableArn] }),
  );
  const given = permissionRows(controlPlane).map(lineOf);
  expect(given.filter((line) => !written.includes(line))).toEqual([
    '| `<Events/Log/Role>` | `dynamodb:Scan` | `<Table/Table>` |  |',
  ]);
});
