import { existsSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { BadConfiguration, parseEnv } from '../../runtime/process/config.js'

/** Settings of `./venue market`, by the names of its environment. */
export const operatorEnv = z.object({
  /** Directory of the venue; the next three default to those of ./venue up in it. */
  DATA_DIR: z.string().min(1).default('./var'),
  NATS_URL: z.string().min(1).optional(),
  DEPLOYMENT_FILE: z.string().min(1).optional(),
  MARKETS_FILE: z.string().min(1).optional(),
})

export interface OperatorConfig {
  readonly natsUrl: string
  readonly deploymentFile: string
  readonly marketsFile: string
  /** Who gives the commands: the user of the machine. */
  readonly user: string
}

const portsFile = z.object({ nats: z.int() })

/** Throws BadConfiguration, in one line. */
export function readOperatorConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  const { DATA_DIR, NATS_URL, DEPLOYMENT_FILE, MARKETS_FILE } = parseEnv(operatorEnv, env)
  const marketsFile = MARKETS_FILE ?? join(DATA_DIR, 'markets.json')
  if (!existsSync(marketsFile)) {
    throw new BadConfiguration(
      `there is no market file ${marketsFile}: set DATA_DIR or MARKETS_FILE`,
    )
  }
  return {
    natsUrl: NATS_URL ?? `nats://127.0.0.1:${readPort(join(DATA_DIR, 'ports.json'))}`,
    deploymentFile: DEPLOYMENT_FILE ?? join(DATA_DIR, 'devnet.json'),
    marketsFile,
    user: userInfo().username,
  }
}

function readPort(path: string): number {
  try {
    return portsFile.parse(JSON.parse(readFileSync(path, 'utf8'))).nats
  } catch (cause) {
    const message = `NATS_URL is not set, and ${path} names no port of a bus: is the venue running?`
    throw new BadConfiguration(message, { cause })
  }
}
