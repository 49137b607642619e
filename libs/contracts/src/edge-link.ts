/**
 * Header by which the edge asks the control plane, with only the head of a request, whether it would read the body, before a body that is
 * still arriving occupies a connection. The response is the refusal of the request, or an empty one with the other header.
 */
export const EDGE_ASK_HEADER = 'x-edge-ask'
export const EDGE_ADMITTED_HEADER = 'x-edge-admitted'
