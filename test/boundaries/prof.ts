import { enumerate } from './enumerate.ts';
import { tell } from './story.ts';
import { STORIES } from './stories/all.ts';
const only = process.argv[2] ?? '';
for (const s of STORIES) {
  if (!s.name.includes(only)) continue;
  if (process.argv[3] === 'tell') {
    const r = await tell(s, null); console.log(s.name, r.invocations.length, r.faults); console.log(r.final);
    if (process.argv[4]) for (const i of r.invocations) console.log(' ', i.path, '|', i.calls.map(c=>c.name.replace('DynamoDB ','')).join(' > '));
    continue; }
  const c0=process.cpuUsage(); 
  const { paths, failures, told } = await enumerate(s);
  const c=process.cpuUsage(c0);
  console.log(s.name, paths.length, 'paths', told, 'told', paths.reduce((n, p) => n + p.kills, 0), 'kills', Math.round((c.user+c.system)/1000),'ms', failures.length, 'failures');
  console.log(failures.slice(0, 6).join('\n'));
}
