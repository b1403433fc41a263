/** `holdoff dead-letters`: what is in the dead-letter queues, in words; sent again, or thrown away. */
import { type Command, Option } from 'commander';
import { separated, table } from '../../present/table.ts';
import { counted } from '../../present/text.ts';
import { sayWhen } from '../../present/when.ts';
import type { CommandModule, Tools } from '../command.ts';
import { DEAD_QUEUES, type DeadQueue, type Letter, readLetter } from '../dead-letters/letter.ts';
import type { Queues } from '../dead-letters/queues.ts';
import { CliError, EXIT, type ExitCode } from '../errors.ts';
import { formatInstant } from '../../core/kit/time.ts';
import { prefixOption } from '../options.ts';
import { print } from '../output.ts';

const HELP = `
Reads the queues <prefix>-timers-dead, -commands-dead and -events-dead with your AWS credentials (sqs:GetQueueUrl and
sqs:ReceiveMessage; to change something sqs:DeleteMessage, sqs:SendMessage, sqs:ChangeMessageVisibility and events:PutEvents).
Repair the cause first: what is sent again for the same fault comes back.

  replay   sends again what can be: timers, wakes of the last hour, and our own events (each is written once, however often it comes)
  discard  throws away what cannot be sent again, or is of no use any more; with --all everything

Examples:
  holdoff dead-letters
  holdoff dead-letters replay --queue events
  holdoff dead-letters discard --yes

Columns in a pipe:
  queue sentAt what why replayable otherwise`;

type Options = { readonly prefix: string; readonly queue?: DeadQueue; readonly yes?: true; readonly all?: true };

/** Adds the commands. */
export const deadLettersCommand: CommandModule = (program, accept) => {
  const letters = program
    .command('dead-letters')
    .description('what AWS gave up: each message in words, sent again or thrown away')
    .addHelpText('after', HELP);
  const add = (name: string, description: string): Command =>
    letters
      .command(name, name === 'list' ? { isDefault: true } : {})
      .description(description)
      .addOption(prefixOption())
      .addOption(new Option('--queue <queue>', 'only those of this one').choices(DEAD_QUEUES));
  add('list', 'what is in the queues (the default)').action((options: Options) => {
    accept({ name: 'dead-letters', options, run: (tools) => list(tools, options) });
  });
  add('replay', 'send again what can be')
    .option('--yes', 'without asking')
    .action((options: Options) => {
      const run = (tools: Tools): Promise<ExitCode> => act(tools, options, 'replay');
      accept({ name: 'dead-letters replay', many: true, options, run });
    });
  add('discard', 'throw away what cannot be sent again')
    .option('--yes', 'without asking')
    .option('--all', 'also what can be sent again')
    .action((options: Options) => {
      const run = (tools: Tools): Promise<ExitCode> => act(tools, options, 'discard');
      accept({ name: 'dead-letters discard', many: true, options, run });
    });
};

async function list(tools: Tools, options: Options): Promise<ExitCode> {
  const queues = await open(tools, options);
  const letters = await take(tools, queues, options);
  await giveBack(queues, letters);
  print(tools, {
    json: { items: letters.map(jsonOf) },
    screen: () => page(letters, tools),
    piped: () => separated(letters.map(rowOf)),
  });
  return EXIT.ok;
}

type Outcome = { readonly letter: Letter; readonly done: boolean; readonly why: string | null };

/** Exit code 1 when one of them could not be done. */
async function act(tools: Tools, options: Options, verb: 'replay' | 'discard'): Promise<ExitCode> {
  const queues = await open(tools, options);
  const letters = await take(tools, queues, options);
  const chosen = letters.filter(({ replay }) =>
    verb === 'replay' ? replay !== null : options.all === true || replay === null,
  );
  await giveBack(
    queues,
    letters.filter((letter) => !chosen.includes(letter)),
  );
  if (chosen.length === 0) {
    say(tools, `Nothing to ${verb}${letters.length === 0 ? ': the queues are empty' : ''}.`, []);
    return EXIT.ok;
  }
  try {
    if (options.yes !== true) await confirm(tools, chosen, `${verb} ${counted(chosen.length, 'message')}`);
  } catch (error) {
    await giveBack(queues, chosen);
    throw error;
  }
  const outcomes: Outcome[] = [];
  for (const letter of chosen) outcomes.push(await actOn(queues, letter, verb));
  const failed = outcomes.filter(({ done }) => !done).length;
  const word = verb === 'replay' ? 'sent again' : 'thrown away';
  say(
    tools,
    `${outcomes.length - failed} ${word}${failed === 0 ? '' : `; ${failed} could not be, and stay`}.`,
    outcomes,
  );
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

/** First sent, then removed: if the second fails it comes twice, which changes nothing. */
async function actOn(queues: Queues, letter: Letter, verb: 'replay' | 'discard'): Promise<Outcome> {
  try {
    if (verb === 'replay' && letter.replay !== null) await queues.send(letter.replay);
    await queues.remove(letter.queue, letter.message);
    return { letter, done: true, why: null };
  } catch (error) {
    return { letter, done: false, why: error instanceof Error ? error.message : String(error) };
  }
}

async function open(tools: Tools, { prefix }: Options): Promise<Queues> {
  const connection = await tools.connection();
  const endpoint = tools.io.env['AWS_ENDPOINT_URL'];
  if (connection.isLocal && endpoint === undefined) {
    throw new CliError('Usage', {
      what: '`npm start` has no dead letters to look at',
      why: 'it runs on this machine alone, and shows what fails in its own window',
      next: 'name a deployed control plane with --endpoint URL --region REGION',
    });
  }
  const { queuesOf } = await import('../dead-letters/queues.ts');
  return queuesOf(connection, { prefix, timeoutMs: tools.timeout, endpoint });
}

async function take(tools: Tools, queues: Queues, { prefix, queue }: Options): Promise<Letter[]> {
  const letters: Letter[] = [];
  for (const of of queue === undefined ? DEAD_QUEUES : [queue]) {
    const found = await asked(() => queues.take(of));
    if (found === null) {
      throw new CliError('NoSuchQueue', {
        what: `this account has no queue ${prefix}-${of}-dead`,
        next: `say the deployment's prefix with --prefix NAME if it is not ${prefix}, and use credentials of its account and Region`,
      });
    }
    letters.push(...found.map((message) => readLetter(of, message, tools.io.now())));
  }
  return letters;
}

async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new CliError(
      'AwsRefused',
      {
        what: 'AWS could not be asked for the dead letters',
        why: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
        next: 'check credentials and Region; it takes sqs:GetQueueUrl and sqs:ReceiveMessage',
      },
      { cause: error },
    );
  }
}

/** What cannot be given back comes back by itself after some minutes. */
async function giveBack(queues: Queues, letters: readonly Letter[]): Promise<void> {
  await Promise.allSettled(letters.map(({ queue, message }) => queues.giveBack(queue, message)));
}

async function confirm(tools: Tools, letters: readonly Letter[], what: string): Promise<void> {
  const { io } = tools;
  if (tools.json || !io.canAsk) {
    throw new CliError('Usage', {
      what: `${what}: nothing was done`,
      why: 'somebody must say yes, and there is no terminal to ask on',
      next: 'see which they are with `holdoff dead-letters`, then add --yes',
    });
  }
  io.err(`${page(letters, tools)}\n\n`);
  if (/^y(?:es)?$/i.test((await io.ask(`${what}? [y/N] `)).trim())) return;
  throw new CliError('Usage', { what: `${what}: nothing was done`, why: 'the answer was not yes' });
}

function say(tools: Tools, words: string, outcomes: readonly Outcome[]): void {
  print(tools, {
    json: { items: outcomes.map(({ letter, done, why }) => ({ ...jsonOf(letter), done, failure: why })) },
    screen: () =>
      [...outcomes.flatMap(({ letter, why }) => (why === null ? [] : [`${letter.what}: ${why}`])), words].join('\n'),
    piped: () =>
      separated(outcomes.map(({ letter, done, why }) => [...rowOf(letter), done ? 'done' : 'failed', why ?? ''])),
  });
}

const jsonOf = ({ queue, message, what, why, replay, otherwise }: Letter) => ({
  queue,
  messageId: message.id,
  sentAt: formatInstant(message.sentAt),
  what,
  why,
  replayable: replay !== null,
  otherwise,
  body: message.body,
});

const rowOf = ({ queue, message, what, why, replay, otherwise }: Letter): string[] => [
  queue,
  formatInstant(message.sentAt),
  what,
  why ?? '',
  replay === null ? 'no' : 'yes',
  otherwise,
];

function page(letters: readonly Letter[], tools: Tools): string {
  if (letters.length === 0) return 'No dead letters.';
  const surface = tools.surface();
  const rows = letters.map(({ queue, message, what, why, replay, otherwise }) => [
    { text: queue },
    { text: sayWhen(formatInstant(message.sentAt), surface.now) },
    { text: `${what}${why === null ? '' : `. Why: ${why}`}` },
    { text: replay === null ? `cannot be sent again: ${otherwise}` : `can be sent again; without it: ${otherwise}` },
  ]);
  const replayable = letters.filter(({ replay }) => replay !== null).length;
  const next = [
    replayable > 0 ? 'holdoff dead-letters replay' : null,
    replayable < letters.length ? 'holdoff dead-letters discard' : null,
  ].filter((line) => line !== null);
  return [
    table([{ title: 'QUEUE' }, { title: 'SENT' }, { title: 'WHAT' }, { title: 'THEN' }], rows, surface),
    '',
    `Once the cause is repaired: ${next.join(', ')}.`,
  ].join('\n');
}
