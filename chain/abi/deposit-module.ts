import { parseAbi } from 'viem'

/** Functions and events of the DepositModule. */
export const depositModuleAbi = parseAbi([
  'function usedNonces(address owner, uint256 nonce) view returns (bool used)',
  'function matching() view returns (address)',
  'function subAccounts() view returns (address)',
  'event NonceUsed(address indexed owner, uint256 nonce)',
])
