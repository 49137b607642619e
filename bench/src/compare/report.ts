import { figure, textTable } from '../report/text-table.js'
import { type Judged, judgeAgainstBefore, judgeGoals } from './goals.js'
import { type Comparison, type Figure, median, medianOf, ratios } from './summary.js'
import type { Workload } from './workload.js'

const MB = 1024 * 1024
const HEAD = [
  'server',
  'req/s',
  'of nginx',
  'CPU s/100k',
  'of nginx',
  'p50 ms',
  'p99 ms',
  'of nginx',
  'MB/s',
  'CPU s/GB',
  'peak MB',
  'others',
]

/** The report of a comparison for readers, in Markdown. */
export function compareReport(comparison: Comparison, workloads: readonly Workload[]): string {
  const { machine, samples, peers, absent } = comparison
  const measured = workloads.filter(({ name }) => samples.some(({ workload }) => workload === name))
  return [
    `# Comparison of ${comparison.madeAt}`,
    `\`${comparison.command}\` at commit ${comparison.commit}. ${machine.processors} processors (${machine.processor}), Linux ${machine.kernel}, ` +
      `Node ${machine.node}. Medians of ${comparison.rounds} interleaved rounds of ${comparison.seconds} s; ratios are medians of the ratios of ` +
      `each round. Load by the suite's own generator. ${comparison.bound ? 'The server on one processor, the load on another.' : 'Nothing bound to processors.'} ` +
      `"others" is how many processors programs other than these two kept busy meanwhile.`,
    peers.map(({ name, description }) => `- **${name}**: ${description}`).join('\n'),
    absent.map(({ name, reason }) => `- ${name} not measured: ${reason}`).join('\n'),
    ...judgedTable('## Against the earlier checkout', judgeAgainstBefore(samples)),
    ...judgedTable('## Goals', judgeGoals(samples)),
    ...measured.map(
      (workload) => `## ${workload.title} (\`${workload.name}\`)\n\n${workloadTable(comparison, workload)}`,
    ),
    '',
  ]
    .filter((part, i, parts) => part !== '' || i === parts.length - 1)
    .join('\n\n')
}

function judgedTable(title: string, judged: readonly Judged[]): string[] {
  if (judged.length === 0) return []
  const rows = judged.map(({ text, wanted, found, worst, met }) => [text, wanted, found, worst, met ? 'yes' : 'NO'])
  return [title, textTable(['goal', 'wanted', 'median', 'worst round', 'met'], rows)]
}

function workloadTable({ samples, peers }: Comparison, { name }: Workload): string {
  const rows = peers
    .filter((peer) => samples.some((sample) => sample.workload === name && sample.peer === peer.name))
    .map(({ name: peer }) => {
      const of = (what: Figure): number | undefined => medianOf(samples, `${name} ${peer}`, what)
      const toNginx = (what: Figure): string =>
        figure(median(ratios(samples, `${name} ${peer}`, `${name} nginx`, what)))
      const rise = of('memoryRise')
      const hits = of('hitRate')
      const more = [
        ...(rise === undefined ? [] : [`rose by ${figure(rise / MB)} MB`]),
        ...(hits === undefined ? [] : [`${Math.round(hits * 100)} % from memory`]),
      ]
      return [
        more.length === 0 ? peer : `${peer} (${more.join(', ')})`,
        figure(of('requestsPerSecond')),
        toNginx('requestsPerSecond'),
        figure(of('cpuPer100k')),
        toNginx('cpuPer100k'),
        figure(of('p50')),
        figure(of('p99')),
        toNginx('p99'),
        figure(of('megabytesPerSecond')),
        figure(of('cpuPerGb')),
        figure((of('peakMemory') ?? 0) / MB),
        figure(of('othersBusy')),
      ]
    })
  return textTable(HEAD, rows)
}
