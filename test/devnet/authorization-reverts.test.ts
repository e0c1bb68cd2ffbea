import {
  encodeAbiParameters,
  encodeFunctionData,
  numberToHex,
  parseAbi,
  parseAbiParameters,
  size,
} from 'viem'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import {
  actionsCall,
  depositCall,
  matchCall,
  ONE,
  orderData,
  signAction,
  signOrder,
  type ActionOverrides,
  type SignedOrder,
} from '../support/devnet-actions.js'
import {
  administer,
  openAccount,
  type Call,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

const moduleAbi = parseAbi([
  'struct VerifiedAction { uint256 subaccountId; address owner; address module; bytes data; uint256 nonce; }',
  'function executeAction(VerifiedAction[] actions, bytes actionData)',
])
const UNKNOWN_MODULE = '0x0000000000000000000000000000000000000999'

async function orders(world: World, ask: ActionOverrides = {}, bid: ActionOverrides = {}) {
  const taker = await signOrder(world, world.bob, { isBid: true }, bid)
  const maker = await signOrder(world, world.alice, { isBid: false, desiredAmount: ONE }, ask)
  return { taker, maker }
}

/** Bob buys from Alice, whose action differs. */
async function match(world: World, ask: ActionOverrides, bid: ActionOverrides = {}): Promise<Call> {
  const { taker, maker } = await orders(world, ask, bid)
  return matchCall(world, { taker, fills: [{ maker }] })
}

/** Bob buys from Alice, whose order was altered after she signed it. */
async function altered(
  world: World,
  alter: (order: SignedOrder) => Partial<SignedOrder>,
): Promise<Call> {
  const { taker, maker } = await orders(world)
  return matchCall(world, { taker, fills: [{ maker: { ...maker, ...alter(maker) } }] })
}

function administration(from: Trader, world: World): Call {
  const args = [from.address, true] as const
  const data = encodeFunctionData({ abi: matchingAbi, functionName: 'setTradeExecutor', args })
  return { from: from.address, to: world.at.matching, data }
}

const actions: readonly Row[] = [
  ['an expired action', 'OV_ActionExpired', (world) => match(world, { expiry: 1n })],
  [
    'an action at its last second',
    'success',
    async (world) => match(world, { expiry: (await world.client.getBlock()).timestamp }),
  ],
  [
    'an action that another key signed',
    'OV_InvalidSignature',
    (world) => match(world, { signedBy: world.carol.account }),
  ],
  [
    'an action with a field changed after signing',
    'OV_InvalidSignature',
    (world) =>
      altered(world, ({ action }) => ({ action: { ...action, nonce: action.nonce + 1n } })),
  ],
  [
    'a signer that is neither owner nor session key',
    'OV_SignerNotOwnerOrSessionKeyExpired',
    (world) => match(world, { signer: world.carol.address, signedBy: world.carol.account }),
  ],
  [
    'an owner that does not own the account',
    'OV_InvalidActionOwner',
    (world) => {
      const { address: owner, account: signedBy } = world.carol
      return match(world, { owner, signer: owner, signedBy })
    },
  ],
  [
    'a deposit into the account of another owner',
    'OV_InvalidActionOwner',
    (world) => {
      const { subaccountId } = world.alice
      const deposit = { amount: 0n, asset: world.at.wrapped_cngn }
      return depositCall(world, world.bob, deposit, { subaccountId })
    },
  ],
  [
    'an account that was never deposited',
    'ERC721InsufficientApproval',
    async (world) => {
      const subaccountId = await openAccount(world, world.alice.address, world.at.spot_manager)
      return match(world, { subaccountId })
    },
  ],
  [
    'an account that does not exist',
    'ERC721NonexistentToken',
    (world) => match(world, { subaccountId: 999n }),
  ],
]

const calls: readonly Row[] = [
  [
    'a caller that is not a trade executor',
    'M_OnlyTradeExecutor',
    async (world) => ({ ...(await match(world, {})), from: world.alice.address }),
  ],
  [
    'fewer signatures than actions',
    'M_ArrayLengthMismatch',
    async (world) => {
      const { taker, maker } = await orders(world)
      const payload = orderData({ taker, fills: [{ maker }] })
      const args = [[taker.action, maker.action], [taker.signature], payload] as const
      const data = encodeFunctionData({ abi: matchingAbi, functionName: 'verifyAndMatch', args })
      return { from: world.executor, to: world.at.matching, data }
    },
  ],
  [
    'actions for different modules',
    'M_MismatchedModule',
    (world) => match(world, { module: world.at.deposit_module }),
  ],
  [
    'a module that is not allowed',
    'M_OnlyAllowedModule',
    (world) => match(world, { module: UNKNOWN_MODULE }, { module: UNKNOWN_MODULE }),
  ],
  ...(['spot_trade_module', 'deposit_module', 'withdrawal_module'] as const).map((module): Row => [
    `the ${module} called past Matching`,
    'BM_OnlyMatching',
    (world) => {
      const data = encodeFunctionData({
        abi: moduleAbi,
        functionName: 'executeAction',
        args: [[], '0x'],
      })
      return { from: world.executor, to: world.at[module], data }
    },
  ]),
  [
    'an unauthorised caller naming a trade executor',
    'OwnableUnauthorizedAccount',
    (world) => administration(world.alice, world),
  ],
]

/** A module that keeps the accounts lent to it, and claims the given ones as new for the given owner. */
async function rogue(world: World, claimed: readonly bigint[], owner: Address): Promise<Call> {
  const answer = encodeAbiParameters(parseAbiParameters('uint256[], address[]'), [
    claimed,
    claimed.map(() => owner),
  ])
  await world.client.setCode({ address: UNKNOWN_MODULE, bytecode: answering(answer) })
  await administer(world, world.at.matching, matchingAbi, 'setAllowedModule', UNKNOWN_MODULE, true)
  const subaccountId = claimed.length === 0 ? world.alice.subaccountId : 0n
  const overrides = { module: UNKNOWN_MODULE, subaccountId } as const
  return actionsCall(world, [await signAction(world, world.alice, '0x', overrides)])
}

/** Runtime code that copies what stands behind it into memory and returns it. */
function answering(answer: Hex): Hex {
  const length = numberToHex(size(answer), { size: 2 }).slice(2)
  return `0x61${length}600e60003961${length}6000f3${answer.slice(2)}`
}

const modules: readonly Row[] = [
  [
    'a module that keeps an account',
    'M_AccountNotReturned',
    (world) => rogue(world, [], world.alice.address),
  ],
  [
    'a module that claims an existing account as new',
    'M_AccountAlreadyExists',
    (world) => rogue(world, [world.bob.subaccountId], world.alice.address),
  ],
  [
    'a module that claims an account that it does not hand over',
    'M_AccountNotReturned',
    (world) => rogue(world, [world.feeAccount], world.alice.address),
  ],
]

describeOutcomes('modules that misbehave', modules)
describeOutcomes('who authorised an action', actions)
describeOutcomes('who may call, and what', calls)
