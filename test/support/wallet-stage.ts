import { sign } from 'viem/accounts'
import { createHeadReader } from '../../chain/reads/blocks.js'
import { createChainClient, createCircuitBreaker } from '../../chain/reads/client.js'
import {
  createSignatureReads,
  createSignatureVerifier,
  type SignatureVerifier,
} from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import { readAction } from '../../core/entry/read-action.js'
import { createTouchedIds } from '../../core/touched-blocks.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import type { Anvil } from './anvil.js'
import { testDomain, testPrivateKey } from './builders.js'
import { eventually } from './eventually.js'
import { startFakeMatcher } from './fake-matcher.js'
import { anIntakeStage, ask, signedBody } from './intake-stage.js'

/** Who sends matches, as the intake is told. */
export const EXECUTOR: Address = `0x${'e7'.repeat(20)}`

/** An intake whose signatures are judged by a chain; custody is always that of the wallet. */
export interface WalletStage {
  readonly bus: MemoryBus
  readonly verifier: SignatureVerifier
  /** The status of an order that the wallet owns and signs for itself, by the hand of the key; or the refusal's text. */
  readonly place: (wallet: Address, privateKey?: Hex) => Promise<string>
  stop(): Promise<void>
}

export async function openWalletStage({ rpcUrl }: Pick<Anvil, 'rpcUrl'>): Promise<WalletStage> {
  const stage = anIntakeStage()
  const bus = createMemoryBus()
  const reads = createSignatureReads({
    judge: createChainClient(rpcUrl, 'judge'),
    probe: createChainClient(rpcUrl, 'probe'),
    breaker: createCircuitBreaker(),
    readHead: createHeadReader(createChainClient(rpcUrl, 'probe')),
    asker: { matching: testDomain.verifyingContract, sender: EXECUTOR },
  })
  const touched = createTouchedIds(() => performance.now())
  const verifier = createSignatureVerifier({
    domain: testDomain,
    codeCacheMs: 0,
    touched: touched.keys,
    ...reads,
  })
  const intake = await stage.start(bus, { verifier, touched })
  const matcher = await startFakeMatcher(bus, stage.market.market)

  async function placeOnce(wallet: Address, privateKey: Hex): Promise<string> {
    stage.chain.owner = wallet
    const body = await signedBody({ owner: wallet })
    const action_json = { ...(body.action_json as object), signer: wallet }
    const read = readAction(action_json)
    if ('refusal' in read) throw new Error(read.refusal.message)
    const hash = verifier.digest(read.action)
    const signature = await sign({ hash, privateKey, to: 'hex' })
    const answer = await ask(bus, 'place', {
      ...body,
      signer_address: wallet,
      action_json,
      signature,
    })
    return answer.kind === 'order' ? answer.order.signatureStatus : answer.refusal.message
  }
  return {
    bus,
    verifier,
    async place(wallet, privateKey = testPrivateKey) {
      let verdict = ''
      // A busy node may answer too late for one order.
      await eventually(async () => (verdict = await placeOnce(wallet, privateKey)) !== 'unchecked')
      return verdict
    },
    stop: async () => {
      await intake.stop()
      await matcher.stop()
      stage.close()
    },
  }
}
