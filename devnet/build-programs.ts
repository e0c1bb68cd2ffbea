import { bundlePrograms } from './bundle.js'

/** Build step: makes a file of each program, so that it starts quickly. */
await bundlePrograms()
