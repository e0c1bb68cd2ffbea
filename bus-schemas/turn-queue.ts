/**
 * Collects what is to be done and does it at the end of the turn of the event loop, in order: what many callers send in
 * one turn then shares one write to the socket. Bounded by whoever adds.
 */
export function createTurnQueue(): (task: () => void) => void {
  let tasks: (() => void)[] = []
  const run = (): void => {
    const due = tasks
    tasks = []
    for (const task of due) task()
  }
  return (task) => {
    tasks.push(task)
    if (tasks.length === 1) setImmediate(run)
  }
}
