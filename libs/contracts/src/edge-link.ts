/**
 * With this header the edge asks the control plane whether it would read the body of a request, by its head alone: before a body that is
 * still arriving takes a connection. The answer is the refusal that the request deserves, or an empty one with the other header.
 */
export const EDGE_ASK_HEADER = 'x-edge-ask'
export const EDGE_ADMITTED_HEADER = 'x-edge-admitted'
