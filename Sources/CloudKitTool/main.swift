print("cloudkit")
