import { join } from 'node:path'
import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { createCircuitBreaker } from '../../chain/circuit-breaker.js'
import { createChainClient } from '../../chain/client.js'
import { type Deployment, loadDeployment } from '../../chain/deployment.js'
import { createAccountReader } from '../../chain/read-account.js'
import { createSignatureReads } from '../../chain/signature-reads.js'
import { createSignatureVerifier } from '../../chain/verify-signature.js'
import { loadDeployedMarkets } from '../../data/deployed-markets.js'
import { openIntakeRegistry } from '../../data/intake-registry.js'
import { runActor } from '../run-actor.js'
import { readOrderIntakeConfig } from './config.js'
import { createFrameReader } from './read-frame.js'
import { PROCESS_NAME, startOrderIntake } from './start.js'

/** Facts about accounts are kept for one block of the target chain. */
const BLOCK_TIME_MS = 2_000
const config = readOrderIntakeConfig()

runActor({
  name: PROCESS_NAME,
  level: config.LOG_LEVEL,
  start: async ({ log, fail }) => {
    const markets = loadDeployedMarkets(config.DEPLOYMENT_FILE)
    const registry = openIntakeRegistry(join(config.DATA_DIR, 'intake.db'))
    const bus = await connectNatsBus({
      url: config.NATS_URL,
      name: PROCESS_NAME,
      ...(config.NATS_MONITOR_URL !== undefined && { monitorUrl: config.NATS_MONITOR_URL }),
      onWarning: (message) => log.warn(message),
    })
    const chain = openChain(await loadDeployment(config.DEPLOYMENT_FILE))
    const protectedPrefixes = config.PROTECTED_ORDER_ID_PREFIXES
    const words = { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT }
    const readFrame = createFrameReader(words, Date.now)
    const authority = { protectedPrefixes, cancelAuth: config.CANCEL_AUTH, readFrame }
    const places = { bus, registry, markets, nowMs: Date.now, log, onFatal: fail }
    const intake = await startOrderIntake({ ...places, ...authority, ...chain })
    return {
      stop: async () => {
        await intake.stop()
        await bus.close()
        registry.close()
      },
    }
  },
})

function openChain(deployment: Deployment) {
  const probe = createChainClient(config.RPC_URL, 'probe')
  const breaker = createCircuitBreaker()
  const judge = createChainClient(config.RPC_URL, 'judge')
  const reads = createSignatureReads({ judge, probe, breaker })
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  return {
    accounts: createAccountReader({ client: probe, breaker, deployment, cacheMs: BLOCK_TIME_MS }),
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
  }
}
