// The client that a container is given, with its credentials.
@_exported public import CloudKitWebClient
