import { readFile } from 'node:fs/promises'
import { BaseError } from 'viem'
import { z } from 'zod'
import { readOpenSeries } from '../series/next-series.js'
import { LauncherError } from './wait-for.js'

const fields = z.record(z.string(), z.unknown())

/**
 * Expiries of the series that are open on the chain of an existing deployment, rising, in unix seconds: a new market file lists
 * them. None where the deployment has no futures. Throws LauncherError when the file is not a JSON object, or the
 * chain does not answer.
 */
export async function readSeriesOf(rpcUrl: string, file: string): Promise<readonly number[]> {
  try {
    return await readOpenSeries(rpcUrl, fields.parse(JSON.parse(await readFile(file, 'utf8'))))
  } catch (cause) {
    throw new LauncherError(`the open series of futures cannot be read: ${reasonOf(cause, file)}`, {
      cause,
    })
  }
}

function reasonOf(error: unknown, file: string): string {
  if (error instanceof BaseError) return error.shortMessage
  if (error instanceof z.ZodError) return `${file} is not a JSON object`
  return error instanceof Error ? error.message : String(error)
}
