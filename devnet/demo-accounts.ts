import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { BaseError } from 'viem'
import type { Address } from '../core/action.js'
import { jsonObjectOf, readBody, RequestAborted } from '../runtime/http/read-body.js'
import { closeServer, createHttpServer, listen } from '../runtime/http/server.js'
import type { Logger } from '../runtime/process/log.js'
import { runProcess, type ProcessContext, type RunningProcess } from '../runtime/process/process.js'
import { BatchError } from './chain/transaction-batch.js'
import { readDemoAccountsConfig, type DemoAccountsConfig } from './demo-accounts/config.js'
import { createGiver, type Giver } from './demo-accounts/giver.js'

const STOP_GRACE_MS = 3_000
const BODY_LIMITS = { maxBytes: 1_024, maxDepth: 2 }

const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-f]{40}$/)])
const deploymentSchema = z.object({
  demo_seeder: address,
  spot_manager: address,
  perp_manager: address,
  usdc: address,
  cngn: address,
  cash_asset: address,
  wrapped_usdc: address,
  wrapped_cngn: address,
})

/**
 * Gives accounts with play money on a local chain: `POST {address}` on loopback, for the gateway, which judges who may ask. Answers 200
 * with the accounts, 400 without an address in lower case, 409 when the devnet has given all, 429 when the minute has, 503 when the
 * chain did not take the transaction.
 */
async function start(
  config: DemoAccountsConfig,
  { log, fail }: ProcessContext,
): Promise<RunningProcess> {
  const text = await readFile(config.DEPLOYMENT_FILE, 'utf8')
  const giver = createGiver({
    rpcUrl: config.RPC_URL,
    at: deploymentSchema.parse(JSON.parse(text)),
    privateKey: config.DEMO_ACCOUNTS_PRIVATE_KEY,
    nowMs: () => performance.now(),
  })
  const server = createHttpServer((request, response) => {
    answer(giver, request, response, log).catch((error: unknown) => {
      if (!(error instanceof RequestAborted)) fail(error)
    })
  })
  await listen(server, config.DEMO_ACCOUNTS_PORT, '127.0.0.1')
  return { stop: () => closeServer(server, STOP_GRACE_MS) }
}

async function answer(
  giver: Giver,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<void> {
  const read = await readBody(request, BODY_LIMITS)
  const body = 'refusal' in read ? undefined : jsonObjectOf(read.body.toString())
  const owner = address.safeParse(body?.address)
  const given = owner.success ? await give(giver, owner.data, log) : 'malformed'
  const isGiven = typeof given === 'object'
  response.statusCode = isGiven ? 200 : STATUS[given]
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(isGiven ? given : { error: given }))
}

const STATUS = { malformed: 400, exhausted: 409, busy: 429, unavailable: 503 } as const

async function give(giver: Giver, owner: Address, log: Logger) {
  try {
    return await giver.give(owner)
  } catch (error) {
    if (!(error instanceof BatchError) && !(error instanceof BaseError)) throw error
    log.warn({ err: error, owner }, 'accounts not given')
    return 'unavailable'
  }
}

const config = readDemoAccountsConfig()
runProcess({
  name: 'demo-accounts',
  level: config.LOG_LEVEL,
  start: (context) => start(config, context),
})
