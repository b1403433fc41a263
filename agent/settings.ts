/** The agent's settings: one table gives flag, environment variable, default and help line. */
import { isAbsolute } from 'node:path';
import { parseArgs } from 'node:util';
import type { SpecState } from '../core/contract/words.ts';
import { type GroupId, NAME_RULE, NODE_ID_RULE, type NodeId, parseGroupId, parseNodeId } from '../core/kit/ids.ts';
import { parseDuration } from '../core/kit/time.ts';
import { AGENT_DIR } from '../core/contract/wake-document.ts';
import { AgentError } from './failure.ts';
import type { Identity } from './identity.ts';
import type { LaunchRules } from './host/launch.ts';
import { USUAL_OPTIONS } from './host/qemu/arguments.ts';

/** As given: what the host itself knows may be missing. */
export type GivenSettings = {
  readonly endpoint: string;
  /** Null: to be found out (`identity.ts`). */
  readonly region: string | null;
  readonly nodeId: NodeId | null;
  readonly ssmRegistration: string;
  readonly group: GroupId | null;
  /** Empty: as the metadata service says. */
  readonly zone: string;
  readonly agentDir: string;
  readonly stateDir: string;
  readonly guestsDir: string;
  readonly driver: 'bottlerocket' | 'script';
  readonly scripts: string;
  readonly scriptTimeoutMs: number;
  readonly updateSocket: string;
  readonly bootIdFile: string;
  readonly uptimeFile: string;
  readonly rules: LaunchRules;
  readonly hooks: string;
  readonly systemctl: string;
  readonly kubernetesNode: string;
  readonly ecsIntrospection: string;
  readonly drainEveryMs: number;
  readonly checkEveryMs: number;
  readonly refreshEveryMs: number;
  readonly pollEveryMs: number;
  readonly noProgressAfterMs: number;
  readonly rebootAgainAfterMs: number;
  readonly settleMs: number;
  readonly slowRetryMs: number;
  readonly requestTimeoutMs: number;
  readonly deadlinesMs: Readonly<Record<SpecState, number>>;
};

/** Complete. */
export type Settings = GivenSettings & Identity;

type Row = { readonly flag: string; readonly env: string; readonly preset: string | null; readonly help: string };
const row = (flag: string, env: string, preset: string | null, help: string): Row => ({ flag, env, preset, help });

const ROWS = {
  endpoint: row('endpoint', 'HOLDOFF_ENDPOINT', null, 'URL of the control plane'),
  region: row('region', 'HOLDOFF_REGION', '', 'Region to sign for (else AWS_REGION); empty: the one this host is in'),
  nodeId: row(
    'node-id',
    'HOLDOFF_NODE_ID',
    '',
    'this node as SSM names it; empty: as SSM registration or IMDSv2 have it',
  ),
  ssmRegistration: row(
    'ssm-registration',
    'HOLDOFF_SSM_REGISTRATION',
    '/var/lib/amazon/ssm/registration',
    'registration of a hybrid node',
  ),
  group: row('group', 'HOLDOFF_GROUP', '', 'group to enrol in; empty: the default group'),
  zone: row('zone', 'HOLDOFF_ZONE', '', 'zone, or other failure domain, of this host; empty: as IMDSv2 has it'),
  agentDir: row('agent-dir', 'HOLDOFF_AGENT_DIR', AGENT_DIR, 'directory whose wake/ receives wake files'),
  stateDir: row('state-dir', 'HOLDOFF_STATE_DIR', '/var/lib/holdoff', 'directory that survives reboots'),
  guestsDir: row(
    'guests-dir',
    'HOLDOFF_GUESTS_DIR',
    '/run/holdoff-guests',
    'locks and leases of guests, gone with the boot; the same for all agents of a host',
  ),
  driver: row('driver', 'HOLDOFF_DRIVER', 'bottlerocket', 'how this host is updated: bottlerocket or script'),
  scripts: row('scripts', 'HOLDOFF_SCRIPTS', '', 'JSON file for --driver script: the scripts of this host'),
  scriptTimeout: row('script-timeout', 'HOLDOFF_SCRIPT_TIMEOUT', '10m', 'after this a script is killed and has failed'),
  updateSocket: row('update-socket', 'HOLDOFF_UPDATE_SOCKET', '/run/api.sock', 'socket of the Bottlerocket API'),
  bootIdFile: row('boot-id-file', 'HOLDOFF_BOOT_ID_FILE', '/proc/sys/kernel/random/boot_id', 'file with the boot id'),
  uptimeFile: row('uptime-file', 'HOLDOFF_UPTIME_FILE', '/proc/uptime', 'file that begins with the seconds since boot'),
  allowExec: row('allow-exec', 'HOLDOFF_ALLOW_EXEC', '', '1: launch definitions of type exec may run here'),
  hooks: row('hooks', 'HOLDOFF_HOOKS', '', 'JSON file: the hooks that may run here, name to command line'),
  systemctl: row('systemctl', 'HOLDOFF_SYSTEMCTL', 'systemctl', 'program that health checks of units ask'),
  kubernetesNode: row(
    'kubernetes-node',
    'HOLDOFF_KUBERNETES_NODE',
    '',
    'name of this node in its cluster; empty: hostname-override',
  ),
  ecsIntrospection: row(
    'ecs-introspection',
    'HOLDOFF_ECS_INTROSPECTION',
    'http://127.0.0.1:51678',
    'local endpoint of the ECS agent',
  ),
  drainEvery: row('drain-every', 'HOLDOFF_DRAIN_EVERY', '5s', 'between looks at a drain under way'),
  checkEvery: row('check-every', 'HOLDOFF_CHECK_EVERY', '10s', 'between rounds of health checks'),
  qemu: row('qemu', 'HOLDOFF_QEMU', '', 'QEMU program: launch definitions of type qemu may run here'),
  qemuOptions: row('qemu-options', 'HOLDOFF_QEMU_OPTIONS', USUAL_OPTIONS.join(','), 'options they may use'),
  qemuDevices: row(
    'qemu-devices',
    'HOLDOFF_QEMU_DEVICES',
    '',
    'drivers of -device besides the usual ones, such as vfio-pci: host devices',
  ),
  qemuDirs: row('qemu-dirs', 'HOLDOFF_QEMU_DIRS', '/var/lib/holdoff/images', 'directories of the files they may name'),
  libvirt: row('libvirt', 'HOLDOFF_LIBVIRT', '', 'libvirt connection: those of type libvirt may run here'),
  libvirtDomains: row('libvirt-domains', 'HOLDOFF_LIBVIRT_DOMAINS', '*', 'domains they may launch, * for any text'),
  virsh: row('virsh', 'HOLDOFF_VIRSH', 'virsh', 'the program that speaks to libvirt'),
  refreshEvery: row('refresh-every', 'HOLDOFF_REFRESH_EVERY', '15m', 'between checks for an update while Idle'),
  pollEvery: row('poll-every', 'HOLDOFF_POLL_EVERY', '2s', 'between looks at the update API during a step'),
  noProgressAfter: row(
    'no-progress-after',
    'HOLDOFF_NO_PROGRESS_AFTER',
    '30s',
    'an accepted command that shows nothing is repeated once after this',
  ),
  rebootAgainAfter: row(
    'reboot-again-after',
    'HOLDOFF_REBOOT_AGAIN_AFTER',
    '5m',
    'an accepted reboot that does not come is repeated once after this',
  ),
  settle: row('settle', 'HOLDOFF_SETTLE', '0.3s', 'a launched process that is alive after this is Running'),
  slowRetry: row('slow-retry', 'HOLDOFF_SLOW_RETRY', '1m', 'between tries after a lasting refusal (403, 409)'),
  requestTimeout: row('request-timeout', 'HOLDOFF_REQUEST_TIMEOUT', '10s', 'for one request'),
  // A little less than the control plane's own deadlines, so that the node says itself what went wrong.
  stageDeadline: row('stage-deadline', 'HOLDOFF_STAGE_DEADLINE', '11m', 'for StagedUpdate'),
  activateDeadline: row('activate-deadline', 'HOLDOFF_ACTIVATE_DEADLINE', '4m', 'for PerformedUpdate'),
  rebootDeadline: row('reboot-deadline', 'HOLDOFF_REBOOT_DEADLINE', '14m', 'for RebootedIntoUpdate'),
  monitorDeadline: row('monitor-deadline', 'HOLDOFF_MONITOR_DEADLINE', '4m', 'for MonitoringUpdate'),
} satisfies Record<string, Row>;
type Key = keyof typeof ROWS;

/** The text of `--help`. */
export function helpText(): string {
  const lines = Object.values<Row>(ROWS).map(({ flag, env, preset, help }) => {
    const fallback = preset === null ? 'required' : preset === '' ? 'optional' : `default ${preset}`;
    return `  --${flag.padEnd(20)} ${env.padEnd(28)} ${help} (${fallback})`;
  });
  return [
    'holdoff-agent: applies updates and runs VMs on this node, as the Holdoff control plane asks.',
    '',
    'Every setting is a flag or an environment variable; the flag wins. Durations are like 90s, 15m, 24h.',
    ...lines,
    '  --help                 this text',
    '',
    'Credentials: the default chain of the AWS SDK (AWS_ACCESS_KEY_ID and so on, then files, then the instance).',
    'SIGTERM ends the agent and leaves what it launched running; under systemd set KillMode=process.',
    '',
  ].join('\n');
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the settings; `help` when that is what was asked for. Throws a Settings error that names flag and variable. */
export function readSettings(args: readonly string[], env: Environment): GivenSettings | 'help' {
  const flags = readFlags(args);
  if (flags['help'] === true) return 'help';
  const raw = (key: Key): string => {
    const { flag, env: name, preset } = ROWS[key];
    const given = flags[flag];
    const spare = key === 'region' ? env['AWS_REGION'] : undefined;
    const text = typeof given === 'string' ? given : given === true ? '1' : (env[name] ?? spare ?? preset);
    if (text === null || (text === '' && preset === null)) throw wrong(key, 'must be given');
    return text;
  };
  const ms = (key: Key): number => parseDuration(raw(key)) ?? fail(key, 'must be a duration such as 90s or 15m');
  const group = raw('group');
  const nodeId = raw('nodeId');
  return {
    endpoint: readUrl('endpoint', raw('endpoint')),
    region: raw('region') === '' ? null : raw('region'),
    nodeId: nodeId === '' ? null : (parseNodeId(nodeId) ?? fail('nodeId', `must be ${NODE_ID_RULE}`)),
    ssmRegistration: raw('ssmRegistration'),
    group: group === '' ? null : (parseGroupId(group) ?? fail('group', `must be ${NAME_RULE}`)),
    zone: raw('zone'),
    agentDir: raw('agentDir'),
    stateDir: raw('stateDir'),
    guestsDir: raw('guestsDir'),
    driver: readDriver(raw('driver'), raw('scripts')),
    scripts: raw('scripts'),
    scriptTimeoutMs: ms('scriptTimeout'),
    updateSocket: raw('updateSocket'),
    bootIdFile: raw('bootIdFile'),
    uptimeFile: raw('uptimeFile'),
    rules: readRules(raw),
    hooks: raw('hooks'),
    systemctl: raw('systemctl'),
    kubernetesNode: raw('kubernetesNode'),
    ecsIntrospection: readUrl('ecsIntrospection', raw('ecsIntrospection')),
    drainEveryMs: ms('drainEvery'),
    checkEveryMs: ms('checkEvery'),
    refreshEveryMs: ms('refreshEvery'),
    pollEveryMs: ms('pollEvery'),
    noProgressAfterMs: ms('noProgressAfter'),
    rebootAgainAfterMs: ms('rebootAgainAfter'),
    settleMs: ms('settle'),
    slowRetryMs: ms('slowRetry'),
    requestTimeoutMs: ms('requestTimeout'),
    deadlinesMs: {
      // Recovery has no deadline of its own: it is tried until it succeeds.
      Idle: Number.POSITIVE_INFINITY,
      StagedUpdate: ms('stageDeadline'),
      PerformedUpdate: ms('activateDeadline'),
      RebootedIntoUpdate: ms('rebootDeadline'),
      MonitoringUpdate: ms('monitorDeadline'),
    },
  };
}

function readFlags(args: readonly string[]): Record<string, string | boolean | undefined> {
  const text = Object.fromEntries(
    Object.values<Row>(ROWS).map(({ flag }) => [flag, { type: flag === 'allow-exec' ? 'boolean' : 'string' } as const]),
  );
  try {
    return parseArgs({
      args: [...args],
      options: { ...text, help: { type: 'boolean' } },
      strict: true,
      allowPositionals: false,
    }).values;
  } catch (error) {
    throw new AgentError('Settings', `${error instanceof Error ? error.message : String(error)} (see --help)`);
  }
}

function wrong(key: Key, rule: string): AgentError {
  const { flag, env } = ROWS[key];
  return new AgentError('Settings', `--${flag} (${env}) ${rule}`);
}

function fail(key: Key, rule: string): never {
  throw wrong(key, rule);
}

function readUrl(key: Key, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return fail(key, 'must be an http or https URL');
  return text.replace(/\/+$/, '');
}

function readDriver(text: string, scripts: string): Settings['driver'] {
  if (text !== 'bottlerocket' && text !== 'script') return fail('driver', 'must be bottlerocket or script');
  if (text === 'script' && scripts === '') return fail('scripts', 'must be given with --driver script');
  return text;
}

/** What this host allows of launch definitions; a type that it has not opted in to is refused. */
function readRules(raw: (key: Key) => string): LaunchRules {
  const list = (key: Key): string[] =>
    raw(key)
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '');
  const program = raw('qemu');
  const uri = raw('libvirt');
  const dirs = list('qemuDirs');
  if (dirs.some((dir) => !isAbsolute(dir))) return fail('qemuDirs', 'must be absolute paths, separated by commas');
  if (program !== '' && !isAbsolute(program)) return fail('qemu', 'must be an absolute path');
  return {
    allowExec: readSwitch(raw('allowExec')),
    qemu: program === '' ? null : { program, options: list('qemuOptions'), devices: list('qemuDevices'), dirs },
    libvirt: uri === '' ? null : { uri, virsh: raw('virsh'), domains: list('libvirtDomains') },
  };
}

function readSwitch(text: string): boolean {
  if (['1', 'true'].includes(text)) return true;
  return ['', '0', 'false'].includes(text) ? false : fail('allowExec', 'must be 1 or 0');
}
