/// An authority of the tests' own, a server's certificate for this machine, and a client's.
///
/// All but one are valid for a hundred years. Nobody outside the tests trusts any of them.
///
/// Created with `openssl ecparam -name prime256v1`, `req -x509` and `x509 -req`.
enum TestAuthority {
    /// The authority's certificate.
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBmjCCAT+gAwIBAgIUXP3Uf3ZQo6W27mtJkCPussk/cTEwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOVGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMDYwNjA2WhgPMjEy
        NjEwMzAwNjA2MDZaMBkxFzAVBgNVBAMMDlRlc3QgYXV0aG9yaXR5MFkwEwYHKoZI
        zj0CAQYIKoZIzj0DAQcDQgAEjBA2YgDCC1r+QCvz25gEMzsmpOWn0Zw8DYAtkghz
        GUfpwuKG/x4Gn26wboeZoacBXndtNnUQdrmGa0S3QWCshqNjMGEwHQYDVR0OBBYE
        FJ6OXJnOwHjYY9ykYKWb8UvF/FfxMB8GA1UdIwQYMBaAFJ6OXJnOwHjYY9ykYKWb
        8UvF/FfxMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49
        BAMCA0kAMEYCIQC7yNZ0Ythfi0el9f2bNdOjs51MC4JgUKPMD31ngEnpogIhAPyt
        nZ44u7GUkRQCfix38J3BVis3g+7Ld5HuHiTU4PoD
        -----END CERTIFICATE-----
        """

    /// The certificate of localhost and 127.0.0.1.
    static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBozCCAUqgAwIBAgIULumvsLjkaFEBVjQOncSwCEcxXsYwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOVGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMDYwNjA2WhgPMjEy
        NjEwMzAwNjA2MDZaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEG
        CCqGSM49AwEHA0IABMmRCJ2ArkhCrWodE9RsAOsuMxHjRNAsMNLOUb89XJE+Q8Y/
        Q7d/nfn+aBrXWVMWFvkb061VV6i1LYtxHxfXtzWjczBxMBoGA1UdEQQTMBGCCWxv
        Y2FsaG9zdIcEfwAAATATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNVHQ4EFgQUBcYJ
        kg94soVtjxCopJFktnHsFE4wHwYDVR0jBBgwFoAUno5cmc7AeNhj3KRgpZvxS8X8
        V/EwCgYIKoZIzj0EAwIDRwAwRAIgRMCft5R7bNCO6vRKt/F/K+nTEPH7AvlprgZi
        uaa3abECIBv1iOwL+WBv8QJYs0gMm/ClgUAAlmgBCHm7e4mERo6Z
        -----END CERTIFICATE-----
        """

    /// Its private key.
    static let serverKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRKW24ZD4G33rFs4B
        mFfdjZJ741y+xwWTktf7tYQKEU2hRANCAATJkQidgK5IQq1qHRPUbADrLjMR40TQ
        LDDSzlG/PVyRPkPGP0O3f535/mga11lTFhb5G9OtVVeotS2LcR8X17c1
        -----END PRIVATE KEY-----
        """

    /// The certificate of a program.
    static let client = """
        -----BEGIN CERTIFICATE-----
        MIIBhTCCASugAwIBAgIULumvsLjkaFEBVjQOncSwCEcxXscwCgYIKoZIzj0EAwIw
        GTEXMBUGA1UEAwwOVGVzdCBhdXRob3JpdHkwIBcNMjYxMTIzMDYwNjA2WhgPMjEy
        NjEwMzAwNjA2MDZaMBExDzANBgNVBAMMBmNsaWVudDBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABFx9GdO2CmSvwTuJUWQ9Ul7lo/IVTUasHybDVaCHa5gfIbf+ciN/
        fXlVyOe7VXpJaiikw17R0hc7L87fnqloheCjVzBVMBMGA1UdJQQMMAoGCCsGAQUF
        BwMCMB0GA1UdDgQWBBQRfbiwqqVclcBjeUMgRFh+2nldgDAfBgNVHSMEGDAWgBSe
        jlyZzsB42GPcpGClm/FLxfxX8TAKBggqhkjOPQQDAgNIADBFAiEA/meD2Es4rptA
        iKI91LnhElXUvML4kN2VH/DluTV1CmYCIHSE2OTH5sfHe3fUyxaXZEiEdW1pumoP
        aLDOJv3O1sEi
        -----END CERTIFICATE-----
        """

    /// Its private key.
    static let clientKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJnvvvPwF/Dkykgyj
        5BWRLJV3NhsIZ00B8h9HAkuNpn6hRANCAARcfRnTtgpkr8E7iVFkPVJe5aPyFU1G
        rB8mw1Wgh2uYHyG3/nIjf315Vcjnu1V6SWoopMNe0dIXOy/O356paIXg
        -----END PRIVATE KEY-----
        """

    /// A certificate of localhost that was valid in January 2020, and is its own authority.
    static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBZDCCAQugAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
        c3QwHhcNMjAwMTAxMDAwMDAwWhcNMjAwMjAxMDAwMDAwWjAUMRIwEAYDVQQDDAls
        b2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARZRk0Wwx7ZwnhoC84S
        6sUZxDTfoOVIEcRl1V/TYtvyPYD7LAnqUVdNo0ed8tK//KByXYF4a9MgfL4WLzVi
        ebwpo04wTDAPBgNVHRMBAf8EBTADAQH/MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcE
        fwAAATAdBgNVHQ4EFgQUu73HTNfXeQsMkK1OEWcVljUIuwswCgYIKoZIzj0EAwID
        RwAwRAIgXmqkfs7ijZ9CI65ONTHOHx7++xHGsRz26DITA7h4g5kCIBbBBPsjkwQi
        SHKR/QKm5NSQX8Q+hfbdf4oZoKDhsq4c
        -----END CERTIFICATE-----
        """

    /// Its private key.
    static let expiredKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkJyTnOa1JwRZy6DD
        XIdTZNPzuyQfwZVfkBsyx1WtKDyhRANCAARZRk0Wwx7ZwnhoC84S6sUZxDTfoOVI
        EcRl1V/TYtvyPYD7LAnqUVdNo0ed8tK//KByXYF4a9MgfL4WLzViebwp
        -----END PRIVATE KEY-----
        """

    /// A certificate of elsewhere.example, with no address in it, that is its own authority.
    static let elsewhere = """
        -----BEGIN CERTIFICATE-----
        MIIBrTCCAVOgAwIBAgIUIDi5NCdvlcdfctwljMyrTUK0gwUwCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRZWxzZXdoZXJlLmV4YW1wbGUwIBcNMjYxMTIzMTkxMTAzWhgP
        MjEyNjEwMzAxOTExMDNaMBwxGjAYBgNVBAMMEWVsc2V3aGVyZS5leGFtcGxlMFkw
        EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEX+jfqYbXT9PSWi5zQplO3FEjCModFhqY
        ohWkAuOEZozj5dyDvidMvaO+1rvgq9mxUeBcxBRvglClpw7zYIYOz6NxMG8wHQYD
        VR0OBBYEFGgho+0bJbwfRxmfOYQPtjbj5szPMB8GA1UdIwQYMBaAFGgho+0bJbwf
        RxmfOYQPtjbj5szPMA8GA1UdEwEB/wQFMAMBAf8wHAYDVR0RBBUwE4IRZWxzZXdo
        ZXJlLmV4YW1wbGUwCgYIKoZIzj0EAwIDSAAwRQIhAP29lnEDy6qr52swcEQKgSlU
        J57MU6c0t7oKWFKfesrwAiAoGBbyPmRsIUk8SS5zPIXwXDsivBTR5Pc+hJPmedST
        HQ==
        -----END CERTIFICATE-----
        """

    /// Its private key.
    static let elsewhereKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgJl+vJH6pKebE7q8J
        84i3jD0nWwk2fjNEXsfVeqAsJk6hRANCAARf6N+phtdP09JaLnNCmU7cUSMIyh0W
        GpiiFaQC44RmjOPl3IO+J0y9o77Wu+Cr2bFR4FzEFG+CUKWnDvNghg7P
        -----END PRIVATE KEY-----
        """
}
