import { type CfnElement, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as z from 'zod/mini';

/** One thing that somebody may do, in words that a person can compare with `docs/permissions.md`. */
export interface PermissionRow {
  readonly who: string;
  readonly action: string;
  readonly resource: string;
  readonly condition: string;
}

const list = z.union([z.string(), z.array(z.unknown())]);
const Statement = z.object({
  Effect: z.literal('Allow'),
  Action: list,
  Resource: z.optional(z.unknown()),
  Principal: z.optional(z.unknown()),
  Condition: z.optional(z.unknown()),
});
const Deny = z.looseObject({ Effect: z.literal('Deny') });
const Document = z.object({ Statement: z.array(z.union([Statement, Deny])) });
const Policy = z.looseObject({ PolicyDocument: Document });
const Properties = z.object({
  PolicyDocument: z.optional(Document),
  AssumeRolePolicyDocument: z.optional(Document),
  ManagedPolicyArns: z.optional(z.array(z.unknown())),
  Policies: z.optional(z.array(Policy)),
  Roles: z.optional(z.array(z.unknown())),
  Queues: z.optional(z.array(z.unknown())),
  Topics: z.optional(z.array(z.unknown())),
  FunctionName: z.optional(z.unknown()),
  Principal: z.optional(z.unknown()),
  Action: z.optional(z.unknown()),
  SourceArn: z.optional(z.unknown()),
});
const Resources = z.record(z.string(), z.object({ Type: z.string(), Properties: z.optional(Properties) }));

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::Partition': '<partition>',
  'AWS::Region': '<region>',
  'AWS::AccountId': '<account>',
  'AWS::URLSuffix': '<suffix>',
};

const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

/** Writes a value of a template as text; `names` turns a logical id into the path of its construct. */
function render(value: unknown, names: ReadonlyMap<string, string>): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map((item) => render(item, names)).join(', ');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  const name = (id: string): string => PSEUDO[id] ?? `<${names.get(id) ?? id}>`;
  if ('Ref' in value && typeof value.Ref === 'string') return name(value.Ref);
  const attribute = z.tuple([z.string(), z.string()]).safeParse('Fn::GetAtt' in value ? value['Fn::GetAtt'] : null);
  if (attribute.success) return name(attribute.data[0]);
  const join = z.tuple([z.string(), z.array(z.unknown())]).safeParse('Fn::Join' in value ? value['Fn::Join'] : null);
  if (join.success) return join.data[1].map((item) => render(item, names)).join(join.data[0]);
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${render(inner, names)}`)
    .join('; ');
}

/** Logical id → path of the construct below its stack. */
function namesOf(stack: Stack): Map<string, string> {
  const names = new Map<string, string>();
  for (const construct of stack.node.findAll()) {
    const element = construct.node.defaultChild;
    for (const candidate of [construct, element]) {
      if (candidate === undefined || !isElement(candidate) || candidate instanceof Stack) continue;
      const id: unknown = stack.resolve(candidate.logicalId);
      const path = candidate.node.path
        .slice(stack.node.path.length + 1)
        .replace(/\/Resource$/, '')
        .replace(/^Default\//, '');
      if (typeof id === 'string') names.set(id, path);
    }
  }
  return names;
}

const isElement = (value: object): value is CfnElement => 'logicalId' in value;

/** Everything that a stack allows anybody, one row for each action and resource. */
export function permissionRows(stack: Stack): PermissionRow[] {
  const names = namesOf(stack);
  const say = (value: unknown): string => render(value, names);
  const resources = Resources.parse(Template.fromStack(stack).toJSON()['Resources']);

  const ofDocument = (document: z.infer<typeof Document>, who: string | null, resource: string | null) =>
    document.Statement.flatMap((raw) => {
      if (raw.Effect === 'Deny') return [];
      const statement = Statement.parse(raw);
      const condition = statement.Condition === undefined ? '' : say(statement.Condition);
      const principal = who ?? say(statement.Principal);
      return asList(statement.Action).flatMap((action) =>
        asList(statement.Resource).map((target) => ({
          who: principal,
          action: say(action),
          resource: resource ?? say(target),
          condition,
        })),
      );
    });

  const rows = Object.entries(resources).flatMap(([id, { Type, Properties: it }]): PermissionRow[] => {
    const self = `<${names.get(id) ?? id}>`;
    if (it === undefined) return [];
    switch (Type) {
      case 'AWS::IAM::Policy':
        return asList(it.Roles).flatMap((role) => ofDocument(Document.parse(it.PolicyDocument), say(role), null));
      case 'AWS::IAM::ManagedPolicy':
        return ofDocument(Document.parse(it.PolicyDocument), self, null);
      case 'AWS::IAM::Role':
        return [
          ...ofDocument(Document.parse(it.AssumeRolePolicyDocument), null, self),
          ...(it.Policies ?? []).flatMap((policy) => ofDocument(policy.PolicyDocument, self, null)),
          ...(it.ManagedPolicyArns ?? []).map((arn) => ({
            who: self,
            action: '(attached policy)',
            resource: say(arn),
            condition: '',
          })),
        ];
      case 'AWS::Lambda::Permission':
        return [
          {
            who: say(it.Principal),
            action: say(it.Action),
            resource: say(it.FunctionName),
            condition: it.SourceArn === undefined ? '' : `from ${say(it.SourceArn)}`,
          },
        ];
      case 'AWS::SQS::QueuePolicy':
        return ofDocument(Document.parse(it.PolicyDocument), null, say(it.Queues));
      case 'AWS::SNS::TopicPolicy':
        return ofDocument(Document.parse(it.PolicyDocument), null, say(it.Topics));
      default:
        return [];
    }
  });
  return rows;
}

/** A row as a line of a Markdown table. */
export const lineOf = ({ who, action, resource, condition }: PermissionRow): string =>
  `| ${[who, action, resource].map((cell) => `\`${cell}\``).join(' | ')} | ${condition === '' ? '' : `\`${condition}\``} |`;
