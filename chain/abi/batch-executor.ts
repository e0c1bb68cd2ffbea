import { parseAbi } from 'viem'

/** Functions and events of BatchExecutor, which tries many matches in one transaction, each by itself. */
export const batchExecutorAbi = parseAbi([
  'struct Match { uint256 gasLimit; bytes call; }',
  'struct Result { uint8 outcome; uint256 gasUsed; bytes revertData; }',
  'function tryAll(Match[] matches) returns (Result[] results)',
  'function matching() view returns (address)',
  'function operators(address operator) view returns (bool)',
  'function setOperator(address operator, bool allowed)',
  'function owner() view returns (address)',
  'event OperatorSet(address indexed operator, bool allowed)',
  'event MatchTried(bytes32 indexed key, uint8 outcome, uint256 gasUsed, bytes revertData)',
])
