import { parseAbi } from 'viem'

/** Functions and events of the WithdrawalModule. */
export const withdrawalModuleAbi = parseAbi([
  'function usedNonces(address owner, uint256 nonce) view returns (bool used)',
  'function matching() view returns (address)',
  'function subAccounts() view returns (address)',
  'event NonceUsed(address indexed owner, uint256 nonce)',
])
