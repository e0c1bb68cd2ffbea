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
  const report = JSON.parse(readFileSync(reportFile(folder), 'utf8')) as schema.MutationTestResult
  // Results of sources that were removed since stay in the file.
  const mutants = Object.entries(report.files)
    .filter(([path]) => existsSync(path))
    .flatMap(([, file]) => file.mutants)
  const count = (...statuses: schema.MutantStatus[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length
  const noticed = count('Killed', 'RuntimeError')
  const timedOut = count('Timeout')
  const survived = count('Survived')
  const notRun = count('NoCoverage')
  const disabled = count('Ignored')
  const judged = noticed + timedOut + survived + notRun
  const score = ((100 * (noticed + timedOut)) / judged).toFixed(1)
  const cells = [score, goal, judged, noticed, timedOut, survived, notRun, disabled]
  return `| \`${folder}\` | ${cells.join(' | ')} |`
}
