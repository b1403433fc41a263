import { GENERATION_PATTERN, WAKE_ID_PATTERN, WAKE_PARAMETERS } from './names.ts';

/** The first SSM agent that hands a parameter over as an environment variable (facts/aws-services.md, section 2). */
export const WAKE_AGENT_VERSION = '3.3.2746.0';

/** The host container the agent runs in on Bottlerocket. */
export const AGENT_CONTAINER = 'holdoff';

/** Where the agent keeps its files, unless `HOLDOFF_AGENT_DIR` says otherwise; it watches `wake/` below it. */
export const AGENT_DIR = '/run/holdoff-agent';

const { wakeId, generation } = WAKE_PARAMETERS;

/**
 * Leaves the wake where the agent watches: a file named by the wake, holding the generation, put in place in one step so
 * that the agent never reads half of it. Arguments: wake, generation. A name with a leading dot is not a wake yet.
 */
const DROP = [
  `dir="\${HOLDOFF_AGENT_DIR:-${AGENT_DIR}}/wake"`,
  'if [ ! -d "$dir" ]; then',
  '  echo "Holdoff: there is no $dir: the agent is not running on this node" >&2',
  '  exit 1',
  'fi',
  'fresh="$dir/.$1.$$"',
  'if printf %s "$2" > "$fresh" && mv -f "$fresh" "$dir/$1"; then exit 0; fi',
  'rm -f "$fresh"',
  'echo "Holdoff: the wake $1 could not be written to $dir" >&2',
  'exit 1',
];

/**
 * The SSM document that wakes an agent (DESIGN, section 5). Its parameters are opaque and reach the script as environment
 * variables only, never as text of the script. An agent that is too old sets none: the script then fails, and says why.
 *
 * On Bottlerocket the SSM agent runs in the control container and ours in a host container of its own. There the wake is
 * dropped from inside: `apiclient exec -T CONTAINER COMMAND ARGUMENT...` runs a command in a host container without a
 * terminal. Whatever fails ends with exit code 1, so that a child's 194, SSM's "reboot and run again", never gets out.
 */
export const WAKE_DOCUMENT = {
  schemaVersion: '2.2',
  description: 'Holdoff: wakes the agent of this node, which then fetches what it is to do',
  parameters: {
    [wakeId]: {
      type: 'String',
      description: 'Opaque id of the wake',
      allowedPattern: WAKE_ID_PATTERN,
      interpolationType: 'ENV_VAR',
    },
    [generation]: {
      type: 'String',
      description: 'Generation of the spec the wake is about',
      allowedPattern: GENERATION_PATTERN,
      interpolationType: 'ENV_VAR',
    },
  },
  mainSteps: [
    {
      action: 'aws:runShellScript',
      name: 'wake',
      precondition: { StringEquals: ['platformType', 'Linux'] },
      inputs: {
        timeoutSeconds: '30',
        runCommand: [
          `if [ -z "\${SSM_${wakeId}+x}" ] || [ -z "\${SSM_${generation}+x}" ]; then`,
          `  echo "Holdoff: SSM Agent ${WAKE_AGENT_VERSION} or later is needed: it did not pass the parameters" >&2`,
          '  exit 1',
          'fi',
          "drop='",
          ...DROP,
          "'",
          `if command -v apiclient >/dev/null 2>&1 && apiclient exec -T ${AGENT_CONTAINER} true >/dev/null 2>&1; then`,
          `  apiclient exec -T ${AGENT_CONTAINER} sh -c "$drop" drop "$SSM_${wakeId}" "$SSM_${generation}" || exit 1`,
          'else',
          `  sh -c "$drop" drop "$SSM_${wakeId}" "$SSM_${generation}" || exit 1`,
          'fi',
          'exit 0',
        ],
      },
    },
  ],
} as const;
