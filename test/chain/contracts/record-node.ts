import { writeFileSync } from 'node:fs'
import { format } from 'prettier'
import { encodeFunctionData, parseAbi, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { subAccountsAbi } from '../../../chain/abi/contracts.js'
import { checkDeployment, type SenderKey } from '../../../chain/contracts/check-deployment.js'
import { createChainClient } from '../../../chain/reads/client.js'
import { deploymentSchema } from '../../../chain/reads/deployment.js'
import { loadMarkets } from '../../../data/markets.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { administer, lower, openWorld, perform, testKey } from '../../support/devnet-world.js'
import {
  RECORDED_NODE,
  recordNode,
  type RecordedAnswers,
  type RecordedNode,
} from '../../support/recorded-node.js'

/**
 * `npm run record-node`: deploys the public contracts on a local chain, checks the deployment through a proxy that keeps what
 * the node answers, and writes recorded-node.json; once with everything that a venue needs, once with a fault of each kind.
 */

const RESERVE_WEI = 10n ** 16n
/** Of a contract's code only its presence is looked at; this much of it is kept. */
const CODE_KEPT_CHARS = 34

const admin = parseAbi([
  'function setAdjustmentsPaused(bool paused)',
  'function setTradeExecutor(address executor, bool allowed)',
  'function setAllowedModule(address module, bool allowed)',
])

// Long ago, so that the recorded prices are old whenever they are looked at.
const world = await openWorld({ startSec: 1_760_000_000 })
const { at, executor } = world
const depositSubmitter = lower(privateKeyToAccount(testKey(1011)).address)
const withdrawalSubmitter = lower(privateKeyToAccount(testKey(1012)).address)

/** What the check asks a node, and the answers of now. */
async function record(): Promise<RecordedAnswers> {
  const node = await recordNode(world.anvil.rpcUrl)
  const sender = (role: string, address: SenderKey['address']): SenderKey => ({
    role,
    address,
    reserveWei: RESERVE_WEI,
  })
  try {
    const checks = await checkDeployment({
      client: createChainClient(node.rpcUrl, 'read'),
      deployment: deploymentSchema.parse(at),
      markets: loadMarkets(at as never).markets.filter(({ enabled }) => enabled),
      executor: sender('executor', executor),
      submitters: [
        sender('deposit submitter', depositSubmitter),
        sender('withdrawal submitter', withdrawalSubmitter),
      ],
      nowMs: Date.now,
    })
    const unknown = checks.filter(({ result }) => result === 'unknown' || result === 'not_checked')
    if (unknown.length > 0) throw new Error(`not answered: ${JSON.stringify(unknown)}`)
  } finally {
    await node.stop()
  }
  return Object.fromEntries(
    Object.entries(node.answers)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([asked, answer]) => [asked, brief(asked, answer)]),
  )
}

/** Without what no check looks at: code beyond its presence, and the events of simulated calls. */
function brief(asked: string, answer: RecordedAnswers[string]): RecordedAnswers[string] {
  if (!('result' in answer)) return answer
  const { result } = answer
  if (asked.startsWith('eth_getCode ')) return { result: String(result).slice(0, CODE_KEPT_CHARS) }
  if (!asked.startsWith('eth_simulateV1 ')) return answer
  const blocks = result as readonly { readonly calls: readonly Record<string, unknown>[] }[]
  const calls = ({ status, returnData, error }: Record<string, unknown>) => ({
    status,
    returnData,
    ...(error !== undefined && { error }),
  })
  return { result: blocks.map((block) => ({ calls: block.calls.map(calls) })) }
}

try {
  for (const address of [executor, depositSubmitter, withdrawalSubmitter])
    await world.client.setBalance({ address, value: parseEther('1') })
  for (const address of [depositSubmitter, withdrawalSubmitter])
    await administer(world, at.matching, admin, 'setTradeExecutor', address, true)
  const complete = await record()

  await world.client.setBalance({ address: withdrawalSubmitter, value: 1n })
  await administer(world, at.matching, admin, 'setTradeExecutor', at.batch_executor, false)
  await administer(world, at.matching, admin, 'setTradeExecutor', depositSubmitter, false)
  await administer(world, at.matching, admin, 'setAllowedModule', at.withdrawal_module, false)
  const asset = { asset: at.wrapped_usdc, positive: 7n, negative: 0n }
  await perform(world, {
    from: at.fee_owner,
    to: at.sub_accounts,
    data: encodeFunctionData({
      abi: subAccountsAbi,
      functionName: 'setAssetAllowances',
      args: [BigInt(at.spot_fee_subaccount_id), at.spot_trade_module, [asset]],
    }),
  })
  const faulty = await record()
  const recorded: RecordedNode = {
    deployment: { ...at },
    senders: { executor, depositSubmitter, withdrawalSubmitter },
    complete,
    faulty,
  }
  const text = await format(JSON.stringify(recorded), { parser: 'json', printWidth: 100 })
  writeFileSync(inProject(RECORDED_NODE), text)
} finally {
  await world.anvil.stop()
}
