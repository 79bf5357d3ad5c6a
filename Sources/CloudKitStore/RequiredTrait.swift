// Without the trait the packages that this module imports are not fetched. Said where SwiftPM alone
// builds, which knows the package's traits.
#if os(Linux) && !Store
#error("The trait Store of swift-cloudkit is off: name it in the manifest's 'traits:'")
#endif
