import { compileContracts } from './compile-contracts.js'

/** Build step: afterwards a deployment finds the contracts compiled. */
await compileContracts()
