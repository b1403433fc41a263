import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import { en } from 'zod/v4/locales';

/** What a deployment can be told, by CDK context (`-c name=value`, or `context` in cdk.json). */
export interface Settings {
  /** Begins every name in the account, so that two deployments do not collide. Default `holdoff`. */
  readonly prefix: string;
  /** Who is told when an alarm fires; none: the topic exists and nobody is subscribed. */
  readonly alarmEmail: string | undefined;
  /**
   * IAM roles whose instances may speak as nodes. Their trust policies must name only EC2 and SSM.
   * None named: the agent stack makes one, `<prefix>-node`.
   */
  readonly nodeRoles: readonly string[];
  /** Wakes are sent only to instances that carry this tag, given as `Key=Value`; none: to any managed node that reported. */
  readonly nodeTag: { readonly key: string; readonly value: string } | undefined;
  /** What becomes of the table when the stack goes: kept and protected (default), or deleted with it. */
  readonly removalPolicy: 'retain' | 'destroy';
  /** Seconds between the reports of a node at rest. Default 900. */
  readonly idleReportSeconds: number;
  /** Seconds between the reports of a node under way. Default 15. */
  readonly activeReportSeconds: number;
  /** Requests a second the API takes before it answers 429; the burst is twice that. Default 500. */
  readonly apiRequestsPerSecond: number;
  /** Read and write units a second the table may use at most: a fuse on the bill, not a target. Default 4000. */
  readonly tableUnitsPerSecondMax: number;
  /** Days that logs are kept; one of CloudWatch's values. Default 30. */
  readonly logDays: number;
  /** Tags of both stacks, which CloudFormation puts on everything in them. */
  readonly tags: Readonly<Record<string, string>>;
  /** A name of the user's for the endpoint, in place of the one that API Gateway makes, which is then closed. */
  readonly domain: Domain | undefined;
  /** After a restore: the table that is used from now on in place of the one that the stack made, which is kept. */
  readonly restoredTable: string | undefined;
  /**
   * Where the handlers find SSM when it is not the usual endpoint of the Region: one with FIPS, one of a VPC, or the
   * stand-in of the deployment test. https, or http on 127.0.0.1.
   */
  readonly ssmEndpoint: string | undefined;
  /** Where alarm descriptions find the runbooks; ends in a slash. Default: the path in this repository. */
  readonly runbooks: string;
}

/** A custom domain of the API; with a hosted zone its alias record is made too. */
export interface Domain {
  readonly name: string;
  readonly certificateArn: string;
  readonly hostedZoneId: string | undefined;
}

z.config(en());

const wholeNumber = (low: number, high: number) => z.coerce.number().check(z.int(), z.minimum(low), z.maximum(high));
const roleName = z.string().check(z.regex(/^[\w+=.@-]{1,64}$/, 'must be the name of a role, without path or ARN'));
const commaSeparated = z.pipe(
  z.string(),
  z.transform((text) => text.split(',').map((part) => part.trim())),
);
const serviceEndpoint = z
  .string()
  .check(
    z.regex(/^(?:https:\/\/[\w.-]+(?::\d+)?|http:\/\/127\.0\.0\.1:\d+)\/?$/, 'must be an https:// URL without a path'),
  );
const nodeTag = z.string().check(z.regex(/^[^=]{1,128}=[^=]{1,256}$/, 'must read Key=Value'));

const tagList = z
  .string()
  .check(
    z.regex(
      /^[^=,]{1,128}=[^,]{0,256}(,[^=,]{1,128}=[^,]{0,256})*$/,
      'must read Key=Value, several separated by commas',
    ),
  );
const domainName = z
  .string()
  .check(z.regex(/^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/, 'must be a domain name'));
const certificateArn = z
  .string()
  .check(z.regex(/^arn:[\w-]+:acm:[\w-]+:\d{12}:certificate\/[\w-]+$/, 'must be the ARN of a certificate in ACM'));

/** The values CloudWatch Logs accepts, as far as they make sense here. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

const Context = z.strictObject({
  prefix: z._default(
    z.string().check(z.regex(/^[a-z][a-z0-9-]{0,18}[a-z0-9]$/, 'must be 2 to 20 of a-z, 0-9, -')),
    'holdoff',
  ),
  alarmEmail: z.optional(z.email()),
  nodeRoles: z._default(z.union([z.array(roleName), z.pipe(commaSeparated, z.array(roleName))]), []),
  nodeTag: z.optional(nodeTag),
  removalPolicy: z._default(z.enum(['retain', 'destroy']), 'retain'),
  idleReportSeconds: z._default(wholeNumber(10, 86_400), 900),
  activeReportSeconds: z._default(wholeNumber(1, 900), 15),
  apiRequestsPerSecond: z._default(wholeNumber(1, 10_000), 500),
  tableUnitsPerSecondMax: z._default(wholeNumber(10, 40_000), 4000),
  logDays: z._default(
    wholeNumber(1, 731).check(z.refine((days) => LOG_DAYS.includes(days), `must be one of ${LOG_DAYS.join(', ')}`)),
    30,
  ),
  tags: z.optional(z.union([z.record(z.string(), z.string()), tagList])),
  domain: z.optional(domainName),
  domainCertificate: z.optional(certificateArn),
  domainHostedZone: z.optional(z.string().check(z.regex(/^Z[A-Z0-9]{5,31}$/, 'must be the id of a hosted zone'))),
  restoredTable: z.optional(z.string().check(z.regex(/^[\w.-]{3,255}$/, 'must be the name of a table'))),
  ssmEndpoint: z.optional(serviceEndpoint),
  runbooks: z._default(z.string().check(z.endsWith('/')), 'docs/runbooks/'),
});

/** Every name that `settingsOf` looks up in the context. */
export const SETTING_NAMES = Object.keys(Context.shape);

/** A context value that cannot be used, with the name to look for. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** Reads the settings through `lookup`, which answers undefined for what was not given. */
export function settingsOf(lookup: (name: string) => unknown): Settings {
  const given = Object.fromEntries(
    SETTING_NAMES.map((key) => [key, lookup(key)] as const).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = Context.safeParse(given);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new SettingsError(`context ${issues.join('; ')}`);
  }
  const { nodeTag: tag, alarmEmail, nodeRoles, tags, restoredTable, ssmEndpoint, ...others } = parsed.data;
  const { domain, domainCertificate, domainHostedZone, ...rest } = others;
  const [key, value] = (tag ?? '').split('=');
  return {
    ...rest,
    alarmEmail,
    nodeRoles,
    tags: tagsOf(tags),
    domain: domainOf(domain, domainCertificate, domainHostedZone),
    restoredTable,
    ssmEndpoint,
    nodeTag: key === undefined || value === undefined ? undefined : { key, value },
  };
}

function tagsOf(given: string | Readonly<Record<string, string>> | undefined): Readonly<Record<string, string>> {
  if (typeof given !== 'string') return given ?? {};
  const tags: Record<string, string> = {};
  for (const pair of given.split(',')) tags[pair.slice(0, pair.indexOf('='))] = pair.slice(pair.indexOf('=') + 1);
  return tags;
}

function domainOf(name?: string, certificateArn?: string, hostedZoneId?: string): Domain | undefined {
  if (name !== undefined && certificateArn !== undefined) return { name, certificateArn, hostedZoneId };
  if (name !== undefined)
    throw new SettingsError('context domainCertificate: a domain needs the ARN of its certificate');
  if (certificateArn === undefined && hostedZoneId === undefined) return undefined;
  throw new SettingsError('context domain: a certificate or hosted zone is given, and no domain that it is for');
}

/** The repository this file is in. */
export const PROJECT_ROOT = fileURLToPath(new URL('../', import.meta.url));

const PackageJson = z.object({ version: z.string() });

/** The version being deployed, as package.json has it. */
export const VERSION = PackageJson.parse(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
).version;
