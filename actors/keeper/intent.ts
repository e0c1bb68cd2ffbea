import { JOBS, type Job } from '../../core/contracts/upkeep.js'

/** One transaction of the keeper: what it is for, and at which block it was decided. */
export interface UpkeepIntent {
  readonly scope: string
  readonly subject: string
  readonly job: Job
  readonly blockNumber: bigint
}

/** The journal's id: of one subject and block there is at most one transaction, also after a crash. */
export const intentOf = ({ scope, subject, job, blockNumber }: UpkeepIntent): string =>
  `${scope}/${subject}/${job}/${blockNumber}`

/** The intent of an id of this form; undefined for any other. */
export function intentFrom(id: string): UpkeepIntent | undefined {
  const [scope = '', subject = '', job = '', block = '', ...rest] = id.split('/')
  if (rest.length > 0 || !isJob(job) || !/^[0-9]{1,20}$/.test(block)) return undefined
  return { scope, subject, job, blockNumber: BigInt(block) }
}

const isJob = (text: string): text is Job => Object.hasOwn(JOBS, text)
