/**
 * Runs every job on the next worker that is free, in their order; each promise settles with its job. Nobody has to wait
 * for all of them: a job that fails is told to whoever waits for it.
 */
export function sideBySide<Worker, Result>(
  workers: readonly Worker[],
  jobs: readonly ((worker: Worker) => Promise<Result>)[],
): Promise<Result>[] {
  const free = [...workers]
  const waiting: ((worker: Worker) => void)[] = []
  const acquire = (): Promise<Worker> => {
    const worker = free.shift()
    return worker === undefined
      ? new Promise((resolve) => waiting.push(resolve))
      : Promise.resolve(worker)
  }
  const release = (worker: Worker): void => {
    const next = waiting.shift()
    if (next === undefined) free.push(worker)
    else next(worker)
  }
  const run = async (job: (worker: Worker) => Promise<Result>): Promise<Result> => {
    const worker = await acquire()
    try {
      return await job(worker)
    } finally {
      release(worker)
    }
  }
  return jobs.map((job) => {
    const result = run(job)
    result.catch(() => undefined)
    return result
  })
}
