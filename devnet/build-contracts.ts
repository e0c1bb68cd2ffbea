import { compileContracts } from './chain/compile-contracts.js'

/** Build step: compiles the contracts, so that a deployment finds them in the cache. */
await compileContracts()
