import { readFileSync } from 'node:fs';
import { PROJECT_ROOT } from './settings.ts';

const FOLDER = `${PROJECT_ROOT}agent/distribution/`;
const END = 'HOLDOFF_END_OF_FILE';

/** Parameters of the document, and the variable of `install.sh` that each becomes. */
const PARAMETERS = {
  source: [
    'HOLDOFF_SOURCE',
    'https:// or s3:// address of agent.mjs',
    '^(https|s3)://[A-Za-z0-9._~:/?#@%+=,-]{4,1000}$',
  ],
  sha256: ['HOLDOFF_SHA256', 'SHA-256 of agent.mjs', '^[0-9a-f]{64}$'],
  endpoint: ['HOLDOFF_ENDPOINT', 'Output Endpoint of the control plane', '^https://[A-Za-z0-9.-]{4,253}/?$'],
  region: ['HOLDOFF_REGION', 'Region to sign for; empty: the one of the host', '^[a-z0-9-]{0,40}$'],
  driver: [
    'HOLDOFF_DRIVER',
    'What updates the host: bottlerocket or script; empty: as agent.env says',
    '^(bottlerocket|script)?$',
  ],
  scripts: [
    'HOLDOFF_SCRIPTS',
    'With driver script: amazon-linux-2023 or ubuntu for the example of this release, else the path of a JSON file on the host',
    '^[A-Za-z0-9._/-]{0,200}$',
  ],
  group: ['HOLDOFF_GROUP', 'Group to enrol in; empty: the default group', '^[A-Za-z0-9._-]{0,64}$'],
} as const;

const OPTIONAL: readonly string[] = ['region', 'group', 'driver', 'scripts'];

/**
 * The SSM document that installs the agent on a Linux host with systemd: `agent/distribution/install.sh` and the unit, as
 * they are in this repository. Parameters reach the script as environment variables only, never as text of it.
 */
export function installDocument(): Readonly<Record<string, unknown>> {
  const names = Object.keys(PARAMETERS);
  return {
    schemaVersion: '2.2',
    description: 'Holdoff: installs the agent on a Linux host with systemd, or brings it up to date',
    parameters: Object.fromEntries(
      Object.entries(PARAMETERS).map(([name, [, description, allowedPattern]]) => [
        name,
        {
          type: 'String',
          description,
          allowedPattern,
          interpolationType: 'ENV_VAR',
          ...(OPTIONAL.includes(name) ? { default: '' } : {}),
        },
      ]),
    ),
    mainSteps: [
      {
        action: 'aws:runShellScript',
        name: 'install',
        precondition: { StringEquals: ['platformType', 'Linux'] },
        inputs: {
          timeoutSeconds: '600',
          runCommand: [
            `if [ -z "\${SSM_${names[0] ?? ''}+x}" ]; then echo "Holdoff: this SSM Agent is too old: it did not pass the parameters" >&2; exit 1; fi`,
            'folder="$(mktemp -d)" || exit 1',
            `trap 'rm -rf "$folder"' EXIT`,
            ...fileOf('install.sh'),
            ...fileOf('holdoff-agent.service'),
            'mkdir "$folder/hosts" || exit 1',
            ...fileOf('hosts/amazon-linux-2023.sh'),
            ...fileOf('hosts/ubuntu.sh'),
            ...Object.entries(PARAMETERS).map(([name, [variable]]) => `export ${variable}="\${SSM_${name}:-}"`),
            'sh "$folder/install.sh" || exit 1',
            'exit 0',
          ],
        },
      },
    ],
  };
}

/** Lines of shell that write a file of the distribution into the folder, whatever is in it. */
function fileOf(name: string): string[] {
  const text = readFileSync(`${FOLDER}${name}`, 'utf8').trimEnd();
  return [`cat > "$folder/${name}" <<'${END}'`, ...text.split('\n'), END];
}
