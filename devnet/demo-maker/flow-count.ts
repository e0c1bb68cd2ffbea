import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { writeJsonDurably } from '../../data/durable-file.js'

const countSchema = z.object({ orders: z.int().min(0) })

/** How many orders have taken quotes since the devnet began, kept in `DATA_DIR/demo-flow.json`. */
export interface FlowCount {
  readonly made: number
  /** Resolves when the file has the new count. */
  add(): Promise<void>
}

/** Counts from zero without the file. Throws when the file has another form. */
export function openFlowCount(dataDir: string): FlowCount {
  const file = join(dataDir, 'demo-flow.json')
  let made = readCount(file)
  return {
    get made() {
      return made
    },
    async add() {
      made += 1
      await writeJsonDurably(file, { orders: made })
    },
  }
}

function readCount(file: string): number {
  try {
    return countSchema.parse(JSON.parse(readFileSync(file, 'utf8'))).orders
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
    throw error
  }
}
