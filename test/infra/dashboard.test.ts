import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { deployed, templateOf } from './deployed.ts';

const Joined = z.object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) });
const Resource = z.object({ Properties: z.object({ DashboardBody: z.union([z.string(), Joined]) }) });
const Widget = z.object({
  type: z.string(),
  y: z.number(),
  width: z.number(),
  properties: z.object({ title: z.optional(z.string()), markdown: z.optional(z.string()) }),
});
const Body = z.object({ widgets: z.array(Widget) });

/** The body as CloudWatch will get it; what only CloudFormation knows is a placeholder. */
function bodyOf(body: string | z.infer<typeof Joined>): z.infer<typeof Body> {
  const text =
    typeof body === 'string'
      ? body
      : body['Fn::Join'][1].map((part) => (typeof part === 'string' ? part : 'placeholder')).join('');
  return Body.parse(JSON.parse(text));
}

/** One line a row of widgets, each as wide as it is on the screen. */
function drawn({ widgets }: z.infer<typeof Body>): string {
  const lines = [...new Set(widgets.map(({ y }) => y))]
    .toSorted((a, b) => a - b)
    .map((y) => {
      const cells = widgets
        .filter((widget) => widget.y === y)
        .map(({ width, properties: { title, markdown } }) =>
          ` ${title ?? markdown?.replace(/^#+ /, '').toUpperCase() ?? ''}`.padEnd(width * 5 - 1),
        );
      return `|${cells.join('|')}|`;
    });
  const rule = `+${'-'.repeat(24 * 5 - 1)}+`;
  return [rule, ...lines.flatMap((line) => [line, rule])].join('\n');
}

test('docs/dashboard.md shows the layout as it is', { timeout: 120_000 }, async () => {
  const [dashboard] = Object.values(
    templateOf(deployed().controlPlane).findResources('AWS::CloudWatch::Dashboard', {
      Properties: { DashboardName: 'holdoff' },
    }),
  );
  const layout = drawn(bodyOf(Resource.parse(dashboard).Properties.DashboardBody));
  const page = `# Dashboard

Read from the top: is anything wrong, what, where. Drawn from the template by \`test/infra/dashboard.test.ts\`;
\`npx vitest run test/infra/dashboard.test.ts -u\` draws it anew.

\`\`\`
${layout}
\`\`\`
`;
  await expect(page).toMatchFileSnapshot('../../docs/dashboard.md');
});
