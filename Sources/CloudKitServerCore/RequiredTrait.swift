// Without the trait the packages that this module imports are not fetched. The check applies only
// to builds by SwiftPM, which knows the package's traits.
#if os(Linux) && !Server
#error("The trait Server of swift-cloudkit is off: name it in the manifest's 'traits:'")
#endif
