import { existsSync, readFileSync } from 'node:fs';
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
   * IAM roles whose instances may speak as nodes, beside the one that the agent stack makes. Their trust policies must
   * name only EC2 and SSM.
   */
  readonly nodeRoles: readonly string[];
  /** Wakes are sent only to instances that carry this tag, given as `Key=Value`; none: to any managed node that reported. */
  readonly nodeTag: { readonly key: string; readonly value: string } | undefined;
  /** What becomes of the table when the stack goes: kept and protected (default), or deleted with it. */
  readonly removalPolicy: 'retain' | 'destroy';
  /** Seconds between the reports of a node at rest. Default 1200. */
  readonly idleReportSeconds: number;
  /** Seconds between the reports of a node under way. Default 15. */
  readonly activeReportSeconds: number;
  /** Requests a second that each call of agents may make before it answers 429; the burst is twice that. Default 500. */
  readonly apiRequestsPerSecond: number;
  /** The same for all calls of people together: agents that storm do not keep a person out, nor the other way. Default 100. */
  readonly peopleRequestsPerSecond: number;
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
  /** ARN of a customer's KMS key for what is stored: the table and the queues. None: keys that AWS keeps. */
  readonly encryptionKey: string | undefined;
  /** Concurrency that no other function of the account can take from the timer handler; none: what the account has. */
  readonly timerConcurrency: number | undefined;
  /** The same for the sweep. */
  readonly sweepConcurrency: number | undefined;
  /** The processors for which the agent's image is built; none: no image, and no stack for it. */
  readonly agentImage: 'arm64' | 'x86_64' | undefined;
  /** The address below which alarm mails find the runbooks; ends in a slash. None: a dashboard of this deployment has them. */
  readonly runbooks: string | undefined;
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

/** SSM keeps these beginnings for documents of its own, in any case of letters. */
const RESERVED_PREFIX = /^(?:aws|amazon|amzn)/;

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

const keyArn = z
  .string()
  .check(z.regex(/^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/, 'must be the ARN of a key in KMS, not of an alias'));

/** The values CloudWatch Logs accepts, as far as they make sense here. */
const LOG_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731];

const Context = z.strictObject({
  prefix: z._default(
    z.string().check(
      z.regex(/^[a-z][a-z0-9-]{0,18}[a-z0-9]$/, 'must be 2 to 20 of a-z, 0-9, -'),
      z.refine(
        (prefix) => !RESERVED_PREFIX.test(prefix),
        'must not begin with aws, amazon or amzn, which SSM reserves',
      ),
    ),
    'holdoff',
  ),
  alarmEmail: z.optional(z.email()),
  nodeRoles: z._default(z.union([z.array(roleName), z.pipe(commaSeparated, z.array(roleName))]), []),
  nodeTag: z.optional(nodeTag),
  removalPolicy: z._default(z.enum(['retain', 'destroy']), 'retain'),
  idleReportSeconds: z._default(wholeNumber(10, 86_400), 1200),
  activeReportSeconds: z._default(wholeNumber(1, 900), 15),
  apiRequestsPerSecond: z._default(wholeNumber(1, 10_000), 500),
  peopleRequestsPerSecond: z._default(wholeNumber(1, 10_000), 100),
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
  encryptionKey: z.optional(keyArn),
  timerConcurrency: z.optional(wholeNumber(1, 1000)),
  sweepConcurrency: z.optional(wholeNumber(1, 1000)),
  agentImage: z.optional(z.enum(['arm64', 'x86_64'])),
  runbooks: z.optional(z.string().check(z.regex(/^https?:\/\/\S+\/$/, 'must be an address that ends in a slash'))),
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
  const { nodeTag: tag, alarmEmail, nodeRoles, tags, restoredTable, ssmEndpoint, agentImage, ...others } = parsed.data;
  const { domain, domainCertificate, domainHostedZone, encryptionKey, runbooks, ...most } = others;
  const { timerConcurrency, sweepConcurrency, ...rest } = most;
  const [key, value] = (tag ?? '').split('=');
  return {
    ...rest,
    alarmEmail,
    nodeRoles,
    tags: tagsOf(tags),
    domain: domainOf(domain, domainCertificate, domainHostedZone),
    restoredTable,
    ssmEndpoint,
    agentImage,
    encryptionKey,
    timerConcurrency,
    sweepConcurrency,
    runbooks,
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

/** Settings given as an object, the rest by default; what cannot be used is refused as it is in the context. */
export function settingsWith(given: Partial<Settings>): Settings {
  const { nodeTag: tag, domain, nodeRoles, ...plain } = given;
  const context: Readonly<Record<string, unknown>> = {
    ...plain,
    nodeRoles: nodeRoles === undefined ? undefined : [...nodeRoles],
    nodeTag: tag === undefined ? undefined : `${tag.key}=${tag.value}`,
    domain: domain?.name,
    domainCertificate: domain?.certificateArn,
    domainHostedZone: domain?.hostedZoneId,
  };
  return settingsOf((name) => context[name]);
}

/** The repository this file is in, or what was made of it when it was packed. */
export const PROJECT_ROOT = fileURLToPath(new URL('../', import.meta.url));

const bundles = fileURLToPath(new URL('../bundles/', import.meta.url));

/** Handlers that were bundled when this was packed; null in the repository, where they are bundled when it is deployed. */
export const PREBUILT = existsSync(bundles) ? bundles : null;

const PackageJson = z.object({ version: z.string() });

/** The version being deployed, as package.json has it. */
export const VERSION = PackageJson.parse(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
).version;
