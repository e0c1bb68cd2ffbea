import { readTask, type MarketOrder } from '../../actors/operator/command-line.js'

/** The order in the words behind `./venue market`. */
export function marketOrderIn(line: string): MarketOrder {
  const task = readTask(['market', ...line.split(' ')])
  if (task.kind !== 'market') throw new Error(`${line} is not an order`)
  return task.order
}
