/** Numbers of the PMTiles version 3 specification. */
export const HEADER_BYTES = 127

/** Header and root directory must fit into the first 16 KiB together, so that one read fetches both. */
export const MAX_ROOT_BYTES = 16_384 - HEADER_BYTES

export const MAGIC = 'PMTiles'
export const SPEC_VERSION = 3

/** Maximum zoom whose tile numbers are exact in a double. */
export const MAX_PMTILES_ZOOM = 26

/**
 * Maximum bytes of one directory, compressed and decompressed. Writers make leaves of some ten thousand entries of up to 10 bytes. An edge decodes
 * one in its event loop, which takes tens of milliseconds for the largest.
 */
export const MAX_DIRECTORY_BYTES = 2 * 1024 * 1024

/** Maximum bytes of the decoded metadata. Attribute statistics of vector tile sets reach a few megabytes. */
export const MAX_METADATA_BYTES = 16 * 1024 * 1024

/** Maximum number of directories below the root on the way to a tile. Writers make one level, and a cycle of leaves ends here. */
export const MAX_LEAF_DEPTH = 3
