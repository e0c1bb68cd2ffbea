import { parseAbiParameters } from 'viem'

/** The EIP-712 type of a signed action, as Matching hashes it. */
export const ACTION_TYPES = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
} as const

/** The constant half of Matching's EIP-712 domain; the chain id and the contract's address complete it. */
export const MATCHING_DOMAIN = { name: 'Matching', version: '1.0' } as const

/** `Action.data` of an order: seven static words; price, amount and fee bound at 1e18. */
export const TRADE_DATA = parseAbiParameters([
  'TradeData data',
  'struct TradeData { address asset; uint256 subId; int256 limitPrice; int256 desiredAmount; uint256 worstFee; uint256 recipientId; bool isBid; }',
])

/** `Action.data` of a deposit: three static words, the amount in native token units. */
export const DEPOSIT_DATA = parseAbiParameters([
  'DepositData data',
  'struct DepositData { uint256 amount; address asset; address managerForNewAccount; }',
])

/** `Action.data` of a withdrawal: two static words, the amount in native token units. */
export const WITHDRAWAL_DATA = parseAbiParameters([
  'WithdrawalData data',
  'struct WithdrawalData { address asset; uint256 assetAmount; }',
])

/** `OrderData.managerData`: calls for feeds, delivered before margin is judged; empty bytes mean none. */
export const MANAGER_DATA = parseAbiParameters([
  'ManagerData[] data',
  'struct ManagerData { address receiver; bytes data; }',
])

/** An action as an ABI tuple. */
export const ACTION = parseAbiParameters([
  'Action action',
  'struct Action { uint256 subaccountId; uint256 nonce; address module; bytes data; uint256 expiry; address owner; address signer; }',
])
