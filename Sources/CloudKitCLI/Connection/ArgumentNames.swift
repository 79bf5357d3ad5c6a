public import ArgumentParser
public import CloudKitWebClient

// The wire's own names are the names on the command line.

extension ServiceEnvironment: ExpressibleByArgument {}
extension DatabaseScope: ExpressibleByArgument {}
extension WireSubscription.SubscriptionType: ExpressibleByArgument {}
extension WireSubscription.Event: ExpressibleByArgument {}
