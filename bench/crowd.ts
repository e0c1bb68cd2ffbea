import { createHash } from 'node:crypto'
import {
  createPublicClient,
  createTestClient,
  createWalletClient,
  http,
  parseAbi,
  parseEventLogs,
} from 'viem'
import { matchingAbi } from '../chain/abi/contracts.js'
import type { Address, Hex } from '../core/action.js'
import { fastSigner } from './fast-signer.js'
import type { TradingAccount } from './order-flow.js'
import type { OwnDevnet } from './own-venue.js'

/** 100,000 USDC and 100,000,000 cNGN in the tokens' 6 decimals. */
const USDC = 100_000_000_000n
const CNGN = 100_000_000_000_000n
/** Accounts of one transaction, and transactions of one block. */
const PER_TRANSACTION = 25
const PER_BLOCK = 14
const TRANSACTION_GAS = 16_000_000n

const seederAbi = parseAbi([
  'struct Endowment { address token; address asset; uint256 amount; }',
  'function openMany(address[] owners, address manager, Endowment[] endowments)',
])

/** Opens a funded spot subaccount for each of `count` new owners on the bench's own chain; about 4 ms each. */
export async function seedCrowd(devnet: OwnDevnet, count: number): Promise<TradingAccount[]> {
  const transport = http(devnet.rpc_url)
  const chain = createPublicClient({ transport })
  const anvil = createTestClient({ mode: 'anvil', transport })
  const wallet = createWalletClient({ transport })
  const traders = Array.from({ length: count }, (_, i) => traderOf(keyOf(i)))
  const endowments = [
    { token: devnet.usdc, asset: devnet.wrapped_usdc, amount: USDC },
    { token: devnet.cngn, asset: devnet.wrapped_cngn, amount: CNGN },
  ]
  const open = (owners: readonly Address[]): Promise<Hex> =>
    wallet.writeContract({
      address: devnet.seeder,
      abi: seederAbi,
      functionName: 'openMany',
      chain: null,
      args: [owners, devnet.spot_manager, endowments],
      account: devnet.deployer,
      gas: TRANSACTION_GAS,
    })
  await anvil.impersonateAccount({ address: devnet.deployer })
  const subaccounts = new Map<string, string>()
  const perBlock = PER_TRANSACTION * PER_BLOCK
  for (let at = 0; at < count; at += perBlock) {
    const owners = traders.slice(at, at + perBlock).map(({ address }) => address)
    const hashes: Hex[] = []
    while (owners.length > 0) hashes.push(await open(owners.splice(0, PER_TRANSACTION)))
    await anvil.mine({ blocks: 1 })
    for (const hash of hashes) {
      const { logs } = await chain.waitForTransactionReceipt({ hash, pollingInterval: 50 })
      const held = parseEventLogs({ abi: matchingAbi, eventName: 'DepositedSubAccount', logs })
      for (const { args } of held) subaccounts.set(args.owner.toLowerCase(), `${args.accountId}`)
    }
  }
  await anvil.stopImpersonatingAccount({ address: devnet.deployer })
  return traders.map(({ address, private_key }) => {
    const subaccountId = subaccounts.get(address)
    if (subaccountId === undefined) throw new Error(`no account was opened for ${address}`)
    return { private_key, subaccountId }
  })
}

const traderOf = (key: Hex) => ({ address: fastSigner(key).address, private_key: key })

const keyOf = (number: number): Hex =>
  `0x${createHash('sha256').update(`bench crowd ${number}`).digest('hex')}`
