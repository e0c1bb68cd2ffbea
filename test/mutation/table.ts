import type { schema } from '@stryker-mutator/api/core'
import { existsSync, readFileSync } from 'node:fs'
import type { Room } from './rooms.js'

/** Where the results of a room are kept from run to run. */
export const reportFile = (folder: string): string =>
  `.cache/mutation-${folder.replaceAll('/', '-')}.json`

export const TABLE_HEAD = `| room | score | goal | mutants | noticed | timed out | survived | not run by a test | disabled |
| - | - | - | - | - | - | - | - | - |`

/** The row of a room: of the mutants that are not disabled, the share that a test noticed or that ran out of time. */
export function describeRoom({ folder, goal }: Room): string {
  const mutants = [...filesOf(folder).values()].flat()
  const { score, judged, noticed, timedOut, survived, notRun, disabled } = judge(mutants)
  const cells = [score, goal, judged, noticed, timedOut, survived, notRun, disabled]
  return `| \`${folder}\` | ${cells.join(' | ')} |`
}

/** The scores of a room's files, the best first; a file whose mutants are all disabled has none. */
export function describeFiles({ folder }: Room): string {
  return [...filesOf(folder)]
    .map(([path, mutants]) => ({ path, ...judge(mutants) }))
    .filter(({ judged }) => judged > 0)
    .toSorted((a, b) => Number(b.score) - Number(a.score))
    .map(({ path, score, judged }) => `${path} ${score} of ${judged}`)
    .join('\n')
}

type Mutants = schema.MutationTestResult['files'][string]['mutants']

/** Results of sources that were removed since stay in the file, and are left out. None before a room's first report. */
function filesOf(folder: string): Map<string, Mutants> {
  if (!existsSync(reportFile(folder))) return new Map()
  const report = JSON.parse(readFileSync(reportFile(folder), 'utf8')) as schema.MutationTestResult
  return new Map(
    Object.entries(report.files)
      .filter(([path]) => existsSync(path))
      .map(([path, { mutants }]) => [path, mutants]),
  )
}

function judge(mutants: Mutants) {
  const count = (...statuses: schema.MutantStatus[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length
  const noticed = count('Killed', 'RuntimeError')
  const timedOut = count('Timeout')
  const survived = count('Survived')
  const notRun = count('NoCoverage')
  const judged = noticed + timedOut + survived + notRun
  const score = judged === 0 ? '-' : ((100 * (noticed + timedOut)) / judged).toFixed(1)
  return { score, judged, noticed, timedOut, survived, notRun, disabled: count('Ignored') }
}
